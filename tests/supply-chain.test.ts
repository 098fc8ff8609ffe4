import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from '@jest/globals';
import { bundle } from '../infra/bundle/build.ts';

/** Checks what comes from others. The lock files and the bundles are enough, so it needs no network. */

interface LockedPackage {
  integrity?: string;
  license?: string;
  optional?: boolean;
  os?: string[];
  link?: boolean;
  hasInstallScript?: boolean;
}

interface LockFile {
  packages: Record<string, LockedPackage>;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const readLock = (file: string): LockFile => JSON.parse(readFileSync(file, 'utf8'));
const packagesOf = ({ packages }: LockFile) =>
  Object.entries(packages).filter(([path, { link }]) => path.startsWith('node_modules/') && !link);

const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** The lock has only a name, a version and a platform of these: the registry that it was made with lacks them. */
const isForOtherPlatform = ({ optional, os, integrity }: LockedPackage) =>
  optional && os !== undefined && integrity === undefined;

describe.each(['package-lock.json', 'tools/mutate/package-lock.json'])('%s', (file) => {
  const lock = readLock(file);
  const locked = packagesOf(lock).filter(([, entry]) => !isForOtherPlatform(entry));

  test('has the digest of every package, and names no registry', () => {
    expect(locked.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
    expect(locked.filter(([, entry]) => 'resolved' in entry)).toEqual([]);
    expect(locked.length).toBeGreaterThan(100);
  });

  test('has only packages whose license allows this use', () => {
    const permissive =
      /^\(?(?:MIT|Unlicense|Apache-2\.0|ISC|0BSD|BSD-[23]-Clause|BlueOak-1\.0\.0|Python-2\.0|PSF-2\.0)\b/;
    const others = locked.filter(([, { license }]) => !permissive.test(license ?? ''));

    expect(others.map(([path]) => nameOf(path)).filter((name) => !checkedByHand.includes(name))).toEqual([]);
  });
});

// The data of caniuse-lite may be used with attribution. The others carry the MIT license, in files of their own.
const checkedByHand = ['busboy', 'caniuse-lite', 'humanize-number', 'streamsearch'];

test('a clean install has at most 900 packages', () => {
  const installed = packagesOf(readLock('package-lock.json')).filter(
    ([, entry]) => !isForOtherPlatform(entry),
  );

  expect(installed.length).toBeLessThan(900);
});

test('every install script is allowed or denied by name, and no name is left over', () => {
  const scripted = packagesOf(readLock('package-lock.json'))
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => nameOf(path));

  expect(Object.keys(manifest.allowScripts).sort()).toEqual([...new Set(scripted)].sort());
});

/** The packages that a bundle may contain, in bytes. A new name here is a decision, not a side effect. */
const endpoint = { '@middy/core': 4_000, zod: 32_000, 'aws-jwt-verify': 15_000, 'the AWS SDK': 180_000 };

const allowed: Record<string, Record<string, number>> = {
  'relight-image': endpoint,
  'text-to-video': endpoint,
  'extend-video': endpoint,
  'multiframe-video': endpoint,
  'update-node': endpoint,
  'update-host-node': endpoint,
  'bulk-node-versions': endpoint,
  'publish-node-version': endpoint,
  'unknown-route': { zod: 28_000 },
  'receive-notification': { zod: 28_000, 'the AWS SDK': 190_000 },
  'deliver-notifications': { zod: 28_000, 'the AWS SDK': 300_000 },
  'finalize-upload': { zod: 28_000, yauzl: 25_000, pend: 1_000, 'the AWS SDK': 300_000 },
  'extract-host-nodes': {
    zod: 30_000,
    yauzl: 25_000,
    pend: 1_000,
    'the AWS SDK': 300_000,
    'py-ast': 110_000,
  },
};

const sdk = /^@(?:aws-sdk|aws|smithy)\/|^(?:tslib|bowser|mnemonist|obliterator)$/;

/** The bytes of each package in a function's bundle, all its files together. */
async function bytesByPackage(name: string): Promise<Record<string, number>> {
  const { metafile } = await bundle(`functions/${name}.ts`, 'unused');
  const bytes: Record<string, number> = {};
  for (const { inputs } of Object.values(metafile.outputs))
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const found = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
      if (found === undefined || bytesInOutput === 0) continue;
      const owner = sdk.test(found) ? 'the AWS SDK' : found;
      bytes[owner] = (bytes[owner] ?? 0) + bytesInOutput;
    }
  return bytes;
}

describe('a bundle', () => {
  const found: Record<string, Record<string, number>> = {};

  test.each(Object.entries(allowed))(
    '%s contains only the allowed packages within their sizes',
    async (name, limits) => {
      const bytes = await bytesByPackage(name);
      found[name] = bytes;

      expect(Object.keys(bytes).sort()).toEqual(Object.keys(limits).sort());
      for (const [owner, limit] of Object.entries(limits)) expect(bytes[owner]).toBeLessThan(limit);
    },
  );

  afterAll(() => console.table(found));
});
