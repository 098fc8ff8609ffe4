import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { build } from 'esbuild';
import {
  type AccountOperation,
  createRegistryClient,
  type Finished,
  type NodeFields,
  type operations,
  type TextToVideoRequest,
  type VideoResult,
} from '../client.ts';

const { account, hostNodes, images, nodes, publish, versions, videos } = createRegistryClient({
  baseUrl: 'http://localhost:9',
});

const image = 'https://example.com/image.png';
const frames = { model: 'vidq2-pro', start_image: image } as const;

type Calls<Name extends string> = Record<Name, () => Promise<unknown>>;
type Operation = Exclude<
  keyof operations,
  'relightTaskChanged' | 'videoTaskChanged' | 'relightResult' | 'taskCreations' | AccountOperation
>;

/** `npm run check:types` fails if an operation has no row here, or an expected error does not come. */
const _misspelt: Calls<Operation> & Calls<string> = {
  // @ts-expect-error: name
  account: () => account('createPublisher', { body: { id: 'acme', nam: 'Acme' } }),
  // @ts-expect-error: publisherId
  'account path': () => account('listTrusts', { path: { publisher: 'acme' } }),
  // @ts-expect-error: style
  relightImage: () => images.relight({ image, stile: 'clean' }),
  // @ts-expect-error: a setting that is known has its type
  'relightImage settings': () => images.relight({ image, advanced_settings: { contrast: 'high' } }),
  // @ts-expect-error: tags
  updateNode: () => nodes.update('demo', 'demo-node', { taggs: ['a'] }),
  publishNodeVersion: () =>
    versions.register('demo', 'demo-node', {
      personal_access_token: '',
      // @ts-expect-error: name
      node: { naem: 'A' },
      node_version: { version: '1.0.0' },
    }),
  'publishNodeVersion version': () =>
    versions.register('demo', 'demo-node', {
      personal_access_token: '',
      node: {},
      // @ts-expect-error: changelog
      node_version: { version: '1.0.0', changelg: 'New' },
    }),
  // @ts-expect-error: prompt
  textToVideo: () => videos.fromText({ promt: 'A boat' }),
  // @ts-expect-error: duration
  extendVideo: () => videos.extend({ model: 'vidq2-pro', durration: 5 }),
  multiframeVideo: () =>
    // @ts-expect-error: prompt, inside an item
    videos.multiframe({ ...frames, image_settings: [{ key_image: image, promt: 'Dawn' }] }),
  // @ts-expect-error: category
  updateHostNode: () => hostNodes.update('demo-node', '1.0.0', 'Load', { categroy: 'image' }),
  // @ts-expect-error: version
  bulkNodeVersions: () => versions.bulk([{ node_id: 'demo-node', verison: '1.0.0' }]),
  publish: () =>
    publish({
      publisherId: 'demo',
      nodeId: 'demo-node',
      personalAccessToken: '',
      archive: new Uint8Array(),
      // @ts-expect-error: dependencies
      version: { version: '1.0.0', dependancies: [] },
    }),
};

/** `npm run check:types` fails if one of these is an error. */
const _accepted = {
  account: async (): Promise<string> => {
    const { token } = await account('createPersonalAccessToken', {
      path: { publisherId: 'acme' },
      body: { name: 'laptop' },
    });
    const [mine] = await account('listPublishersForUser', {});
    return `${token} ${mine?.id}`;
  },
  model: () => videos.fromText({ model: 'a model of one registry' }),
  wait: async (request: TextToVideoRequest, wait: boolean): Promise<VideoResult | Finished> =>
    videos.fromText(request, { wait, onState: () => {} }),
  translations: (fields: NodeFields) =>
    nodes.update('demo', 'demo-node', { ...fields, translations: { de: { name: 'Knoten' }, fr: 'Noeud' } }),
};

const system = '/usr/bin/node';
const isNode20 =
  existsSync(system) && /^v20\./.test(execFileSync(system, ['--version'], { encoding: 'utf8' }));

(isNode20 ? test : test.skip)('runs in Node.js 20 (skipped where /usr/bin/node is another)', async () => {
  const contents = `
    import { createRegistryClient } from './client.ts';
    const { versions } = createRegistryClient({ baseUrl: 'http://127.0.0.1:2', attempts: 1 });
    await versions.bulk([{ node_id: 'a', version: '1.0.0' }]).catch(({ code }) => console.log(code));`;
  const stdin = { contents, resolveDir: join(import.meta.dirname, '..') };
  const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', target: 'es2022', write: false });
  const env = { ...process.env, NODE_OPTIONS: '' };
  const input = outputFiles[0]?.text;

  expect(execFileSync(system, ['--input-type=module'], { input, env, encoding: 'utf8' })).toBe(
    'unreachable\n',
  );
});
