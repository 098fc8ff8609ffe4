import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fileOf, loadContracts, loadOperations } from '../../infra/operations.ts';
import { seed } from '../../tools/local/seed.ts';
import { type Simulators, startSimulators } from '../../tools/simulators/start-simulators.ts';
import { unzip } from 'testing/unzip';
import { type Packaged, packagedStage, unzipInto } from './packaging.ts';

const run = promisify(execFile);

const expected: Record<string, number> = {
  ...Object.fromEntries((await loadContracts()).map(({ name, status }) => [fileOf(name), status])),
  'receive-notification': 404,
  'unknown-route': 404,
};
/** The events that functions without a route log. */
const onEvents: Record<string, object> = {
  'finalize-upload': { event: 'upload', outcome: 'published_before' },
  'extract-host-nodes': { event: 'extraction', node_id: 'demo-node', outcome: 'success' },
  'count-downloads': { event: 'log_file', outcome: 'unknown' },
  'ask-providers': { event: 'sweep', sweep: 'unheard', failed: 0, unvisited: 0 },
  'deliver-notifications': { event: 'hand_over', due: 0, handed: 0 },
  'write-catalog': { event: 'sweep', sweep: 'catalog' },
  'write-index': { event: 'index', records: 1, nodes: 1 },
  'sweep-spending': { event: 'sweep', sweep: 'spending', failed: 0, unvisited: 0 },
};
const names = [...Object.keys(expected), ...Object.keys(onEvents)].sort();

let first: Packaged;
let second: Packaged;
let simulators: Simulators;
let folder: string;

beforeAll(async () => {
  [first, second, simulators, folder] = await Promise.all([
    packagedStage('direct'),
    packagedStage('full'),
    startSimulators(),
    mkdtemp(join(tmpdir(), 'node-registry-unpacked-')),
    seed(),
  ]);
});

afterAll(async () => {
  await simulators.stop();
  await rm(folder, { recursive: true, force: true });
});

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function zipOf(name: string, { zips }: Packaged = first): Buffer {
  return zips.get(camelCase(name)) ?? Buffer.alloc(0);
}

describe('packages', () => {
  test('makes one package a function, and no other', () => {
    expect([...first.zips.keys()].sort()).toEqual(names.map(camelCase));
  });

  test.each(names)('packs only the bundle of %s: no map, source or module folder', async (name) => {
    const files = [...(await unzip(zipOf(name))).keys()];
    const isBundled = (file: string) => file.startsWith(`dist/${name}/`) && /^[^.]+\.js$/.test(file);

    expect(files).toContain(`dist/${name}/index.js`);
    expect(files.filter((file) => !isBundled(file))).toEqual([`dist/${name}/package.json`]);
  });

  test.each(names)('leaves out of %s what only the template and the document need', async (name) => {
    const files = await unzip(zipOf(name));
    const code = String(files.get(`dist/${name}/index.js`));
    const replies = (await loadOperations()).map(({ sampleReply }) => JSON.stringify(sampleReply));
    const ids = replies.join().match(/\b[0-9a-f]{8}-[\w-]{27}|\b\d{18}\b/g) ?? [];

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

/** What Lambda does: a process that imports the handler, here out of a folder that has the unpacked zip alone. */
const runtime = `
  const [handlerFile, eventFile] = process.argv.slice(2);
  const { handler } = await import(handlerFile);
  const event = JSON.parse(process.getBuiltinModule('fs').readFileSync(eventFile, 'utf8'));
  const answer = await handler(event, { getRemainingTimeInMillis: () => 29_000 });
  console.log(JSON.stringify({ answer }));
  process.exit();`;

async function invokePackaged(name: string): Promise<string> {
  const home = join(folder, name);
  await unzipInto(home, zipOf(name));
  const files = [join(home, 'dist', name, 'index.js'), resolve(`events/${name}.json`)];
  const { stdout } = await run(process.execPath, [join(folder, 'runtime.mjs'), ...files], {
    cwd: home,
    env: environment(),
  });
  return stdout;
}

function environment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    NODE_OPTIONS: '',
    IMAGE_PROVIDER_URL: `${simulators.url}/image`,
    IMAGE_PROVIDER_KEY: 'local-image-key',
    VIDEO_PROVIDER_URL: `${simulators.url}/video`,
    VIDEO_PROVIDER_KEY: 'local-video-key',
  };
}

describe('a handler out of its unpacked package', () => {
  const linesOf = new Map<string, { answer?: { body: string } }[]>();

  beforeAll(async () => {
    // A file, because a worker inherits the flags of an --eval and rejects them.
    await writeFile(join(folder, 'runtime.mjs'), runtime);
    const waiting = [...names];
    const work = async () => {
      for (let name = waiting.shift(); name; name = waiting.shift()) {
        const output = (await invokePackaged(name)).trim();
        const lines = output.split('\n');
        linesOf.set(
          name,
          lines.map((line) => JSON.parse(line)),
        );
      }
    };
    await Promise.all([work(), work()]);
  });

  test.each(Object.entries(expected))('%s answers its sample event with %i', (name, status) => {
    const answer = linesOf.get(name)?.at(-1)?.answer;

    expect(answer).toMatchObject({ statusCode: status, headers: { 'x-request-id': `sample-${name}` } });
    expect(JSON.parse(String(answer?.body))).toEqual(expect.any(Object));
  });

  test.each(Object.entries(onEvents))('%s takes its sample event, and logs what it did: %j', (name, line) => {
    expect(linesOf.get(name)).toEqual([expect.objectContaining(line), expect.any(Object)]);
  });
});
