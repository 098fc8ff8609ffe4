import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { endpointNames } from './support/operation-names.ts';
import { builtFunctions } from './infra/packaging.ts';

/** Checks what comes from others. The lock files and the bundles are enough, so it needs no network. */

interface LockedPackage {
  integrity?: string;
  license?: string;
  optional?: boolean;
  os?: string[];
  link?: boolean;
  hasInstallScript?: boolean;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const lock: { packages: Record<string, LockedPackage> } = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
);

const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** The lock has no license of these: they were added by name, for platforms that its registry lacks. */
const isForOtherPlatform = ({ optional, os, license }: LockedPackage) =>
  optional && os !== undefined && license === undefined;

const locked = Object.entries(lock.packages).filter(
  ([path, entry]) => path.startsWith('node_modules/') && !entry.link && !isForOtherPlatform(entry),
);

describe('package-lock.json', () => {
  test('states the digest of every package, and names no registry', () => {
    expect(locked.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
    expect(locked.filter(([, entry]) => 'resolved' in entry)).toEqual([]);
    expect(locked.length).toBeGreaterThan(100);
  });

  test('has at most 900 packages', () => {
    expect(locked.length).toBeLessThan(900);
  });

  test('names only packages whose license allows this use', () => {
    const permissive =
      /^\(?(?:MIT|Unlicense|Apache-2\.0|ISC|0BSD|BSD-[23]-Clause|BlueOak-1\.0\.0|Python-2\.0|PSF-2\.0)\b/;
    const others = locked.filter(([, { license }]) => !permissive.test(license ?? ''));

    expect(others.map(([path]) => nameOf(path)).filter((name) => !checkedByHand.includes(name))).toEqual([]);
  });
});

// The data of caniuse-lite may be used with attribution. axe-core (MPL-2.0) only runs in tests, unchanged, and dompurify may be
// used under Apache-2.0. The others carry the MIT license, in files of their own.
const checkedByHand = ['axe-core', 'busboy', 'caniuse-lite', 'dompurify', 'humanize-number', 'streamsearch'];

test('allows or denies every install script by name, and leaves no name over', () => {
  const scripted = locked.flatMap(([path, { hasInstallScript }]) => (hasInstallScript ? [nameOf(path)] : []));

  expect(Object.keys(manifest.allowScripts).sort()).toEqual([...new Set(scripted)].sort());
});

/** The packages that a bundle may contain. A new name here is a decision, not a side effect. */
const endpoint = ['@middy/core', 'aws-jwt-verify', 'the AWS SDK', 'zod'];

const allowed: Record<string, string[]> = {
  ...Object.fromEntries(endpointNames.map((name) => [name, endpoint])),
  // "Did you mean" for the name of a host node.
  'update-host-node': [...endpoint, 'fastest-levenshtein'].sort(),
  'unknown-route': ['@middy/core', 'zod'],
  'receive-notification': ['@middy/core', 'the AWS SDK', 'zod'],
  'poll-providers': ['the AWS SDK', 'zod'],
  'deliver-notifications': ['the AWS SDK', 'zod'],
  'hand-over-work': ['the AWS SDK', 'zod'],
  'finalize-upload': ['pend', 'the AWS SDK', 'yauzl', 'zod'],
  'extract-host-nodes': ['pend', 'py-ast', 'smol-toml', 'the AWS SDK', 'yauzl', 'zod'],
};

const sdk = /^@(?:aws-sdk|aws|smithy)\/|^(?:tslib|bowser|mnemonist|obliterator)$/;

const built = await builtFunctions();

/** The files that a bundle has a part of, as its source maps list them. */
function inputsOf(name: string): string[] {
  const folder = join(built, name);
  const maps = readdirSync(folder).filter((file) => file.endsWith('.map'));
  const sources = maps.flatMap(
    (file): string[] => JSON.parse(readFileSync(join(folder, file), 'utf8')).sources,
  );
  return sources.map((source) => (source.startsWith('.') ? relative('.', join(folder, source)) : source));
}

describe('a bundle', () => {
  test.each(Object.entries(allowed))(
    'contains only the allowed packages, and has a bill of them: %s',
    (name, expected) => {
      const { components } = JSON.parse(readFileSync(`${built}/${name}.cdx.json`, 'utf8'));
      const folders = inputsOf(name).flatMap(
        (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? [],
      );
      const mapped = [...new Set(folders)].map((folder) => {
        const { name: own, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
        return `${own}@${version}`;
      });
      const owners = folders.map(nameOf).map((found) => (sdk.test(found) ? 'the AWS SDK' : found));

      expect([...new Set(owners)].sort()).toEqual(expected);
      expect(components.map(({ name: own, version }: Record<string, string>) => `${own}@${version}`)).toEqual(
        mapped.sort(),
      );
      expect(
        components.filter(({ licenses }: { licenses: unknown[] }) =>
          /unknown/.test(JSON.stringify(licenses)),
        ),
      ).toEqual([]);
    },
  );
});

test('takes one exact version of all clients of the AWS SDK, which are raised together', () => {
  const { dependencies, devDependencies, overrides } = manifest;
  const versions = Object.entries<string>({ ...dependencies, ...devDependencies, ...overrides })
    .filter(([name]) => name.startsWith('@aws-sdk/'))
    .map(([, version]) => version);

  expect([...new Set(versions)]).toEqual([expect.stringMatching(/^\d/)]);
});
