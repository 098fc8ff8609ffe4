import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { fileOf, loadContracts, loadOperations } from '../../infra/operations.ts';
import { type ColdStart, Lambda } from '../../tools/bench/lambda.ts';
import { measureSizes } from '../../tools/bench/sizes.ts';
import { seed } from '../../tools/local/seed.ts';
import { startSimulators } from '../../tools/simulators/start-simulators.ts';
import { directory } from '@node-registry/testing/folders';
import { unzip } from '@node-registry/testing/unzip';
import { sampleEvent } from '../support/invoke.ts';
import { endpointNames } from '../support/operation-names.ts';
import { untilEnd } from '../support/serve.ts';
import { camelCase, type Packaged, packagedStage, unzipInto } from './packaging.ts';

const expected: Record<string, number> = {
  ...Object.fromEntries((await loadContracts()).map(({ name, status }) => [fileOf(name), status])),
  'receive-notification': 404,
  'self-service': 200,
  'task-results': 404,
  'unknown-route': 404,
};
/** The events that functions without a route log. */
const onEvents: Record<string, object> = {
  'finalize-upload': { event: 'upload', node_id: 'demo-node', outcome: 'superseded' },
  'extract-host-nodes': { event: 'extraction', node_id: 'demo-node', outcome: 'success' },
  'count-downloads': { event: 'log_file', outcome: 'unknown' },
  'poll-providers': { event: 'work', lane: 'poll', outcome: 'superseded' },
  'deliver-notifications': { event: 'work', lane: 'deliver', outcome: 'superseded' },
  'hand-over-work': { event: 'hand_over', due: 0, failed: 0 },
  'watch-reads': { event: 'reads', failed_reads: 3 },
  'write-catalog': { event: 'sweep', sweep: 'catalog' },
  'write-index': { event: 'index', records: 1, nodes: 1 },
  'visit-accounts': { event: 'work', lane: 'visit', outcome: 'superseded' },
  'align-registry': { event: 'work', lane: 'align', outcome: 'superseded' },
};
const names = [...Object.keys(expected), ...Object.keys(onEvents)].sort();

const simulators = untilEnd(await startSimulators());
const [first, second] = await Promise.all([packagedStage('direct'), packagedStage('full')]);
const replies = (await loadOperations()).map(({ sampleReply }) => JSON.stringify(sampleReply));
const ids = replies.join().match(/\b[0-9a-f]{8}-[\w-]{27}|\b\d{18}\b/g) ?? [];

function zipOf(name: string, { zips }: Packaged = first): Buffer {
  return zips.get(camelCase(name)) ?? Buffer.alloc(0);
}

describe('packages', () => {
  test('makes one package a function, and no other', () => {
    expect([...first.zips.keys()].sort()).toEqual(names.map(camelCase));
  });

  test.each(names)('packs only the bundle of %s, without what other programs need', async (name) => {
    const zip = await unzip(zipOf(name));
    const files = [...zip.keys()];
    const code = String(zip.get(`dist/${name}/index.js`));
    const isBundled = (file: string) => file.startsWith(`dist/${name}/`) && /^[^.]+\.js$/.test(file);

    expect(files).toContain(`dist/${name}/index.js`);
    expect(files.filter((file) => !isBundled(file))).toEqual([`dist/${name}/package.json`]);
    expect(ids.length).toBeGreaterThan(4);
    for (const word of [...ids, 'sampleReply', 'proxyRateLimit', 'neverChanges'])
      expect(code).not.toContain(word);
  });

  test('leaves nothing in .local after the build', async () => {
    expect(await readdir(join(dirname(dirname(first.file)), '.local'))).toEqual([]);
  });

  test.each(names)('makes %s again to the byte, elsewhere and for other parameters', (name) => {
    expect(zipOf(name).equals(zipOf(name, second))).toBe(true);
    expect(zipOf(name).length).toBeGreaterThan(5000);
  });
});

describe('a handler out of its unpacked package, in a process of its own', () => {
  const started = new Map<string, Promise<ColdStart>>();
  const lambdas = [1, 2].map(() => untilEnd(new Lambda()));

  beforeAll(async () => {
    await seed();
    const environment = {
      ...process.env,
      NODE_OPTIONS: '',
      IMAGE_PROVIDER_URL: `${simulators.url}/image`,
      IMAGE_PROVIDER_KEY: 'local-image-key',
      VIDEO_PROVIDER_URL: `${simulators.url}/video`,
      VIDEO_PROVIDER_KEY: 'local-video-key',
    };
    const waiting = [...names];
    const work = async (lambda: Lambda) => {
      for (let name = waiting.shift(); name; name = waiting.shift()) {
        // A folder that has the zip alone.
        const file = join(directory, name, 'dist', name, 'index.js');
        await unzipInto(join(directory, name), zipOf(name));
        const start = lambda.start({ file, event: sampleEvent(name), environment });
        started.set(name, start);
        await start.catch(() => {});
      }
    };
    await Promise.all(lambdas.map(work));
  });

  test.each(Object.entries(expected))('%s answers its sample event with %i', async (name, status) => {
    const { answer } = { answer: {}, ...(await started.get(name)) } as { answer: { body?: string } };

    expect(answer).toMatchObject({ statusCode: status, headers: { 'x-request-id': `sample-${name}` } });
    expect(JSON.parse(String(answer.body))).toEqual(expect.any(Object));
  });

  test.each(Object.entries(onEvents))(
    '%s takes its sample event, and logs what it did: %j',
    async (name, line) => {
      const lines = (await started.get(name))?.lines.map((each) => JSON.parse(each));

      // One for each lane of work.
      expect(lines).toContainEqual(expect.objectContaining(line));
    },
  );

  test.each(endpointNames)('%s starts without the slow parts of Node', async (name) => {
    const { modules = [] } = (await started.get(name)) ?? {};
    const slow = ['undici', 'fs/promises', 'webstreams', 'blocklist'];

    expect(modules).toContain('NativeModule http');
    expect(modules.filter((module) => slow.some((part) => module.includes(part)))).toEqual([]);
  });
});

test('no endpoint loads more than 105 KB, compressed, before it answers, and the finalizer 160 KB', async () => {
  const maxOf = (name: string) => (name.endsWith('finalize-upload') ? 160 : 105);
  const sizes = (await measureSizes()).map(({ name, median }) => [name, Math.round(median)] as const);

  expect(sizes.filter(([name, kilobytes]) => kilobytes > maxOf(name))).toEqual([]);
});
