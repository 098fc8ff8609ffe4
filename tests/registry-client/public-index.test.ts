import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { downloadUrl } from '../../lib/bucket/object-keys.ts';
import { stopTimers } from '@node-registry/testing/clock';
import { errorOf } from '@node-registry/testing/client-errors';
import { follow, own } from '../support/index-nodes.ts';
import { serve } from '../support/serve.ts';
import { setFields } from '../support/registry.ts';
import { finalize, publish, put } from '../support/uploads.ts';
import { zip } from '@node-registry/testing/zip';
import { seed } from '../../tools/local/seed.ts';
import { nodeKey, publisherKey } from '../../lib/store/keys.ts';
import { createPublicIndex, createRegistryClient, type Fetch } from '@node-registry/registry-client';

const archive = zip([
  { name: 'node.py', data: 'NODE_CLASS_MAPPINGS = {}\n' },
  { name: 'README.md', data: '# Hello' },
]);
const downloadsUrl = () => downloadUrl('').replace(/\/$/, '');
const requests: { url: string; status: number }[] = [];

/** Reads the files of the embedded S3, as the distribution of a deployed stage serves them. */
const observed: Fetch = async (url, init) => {
  const response = await fetch(url, init);
  requests.push({ url, status: response.status });
  return response;
};
const bytesOf = async (stream: Promise<ReadableStream<Uint8Array>>) =>
  Buffer.concat(await Array.fromAsync(await stream));
const reader = () => createPublicIndex({ downloadsUrl: downloadsUrl(), fetch: observed });

beforeAll(async () => {
  await seed();
  for (const [id, fields] of Object.entries({
    upscaler: { name: 'Video Upscaler', tags: ['video'] },
    'My_Sampler.x': { description: 'Samples a video twice', search_ranking: 5 },
  })) {
    const upload = await publish(id, '1.0.0');
    await put(upload, archive);
    await finalize(upload);
    await setFields(nodeKey(id), fields);
    await follow(publisherKey('demo'), ...own(id));
  }
});

describe('createPublicIndex', () => {
  test('offers the methods of the client', async () => {
    const registry = createRegistryClient({ baseUrl: 'http://localhost:1', downloadsUrl: downloadsUrl() });
    const [version] = await registry.nodes.versions('upscaler');

    expect(await registry.nodes.get('upscaler')).toMatchObject({ latest_version: version });
    expect(await registry.versions.get('upscaler', '1.0.0')).toEqual(version);
    const listed = (await registry.nodes.list()).map(({ id }) => id);
    expect(listed).toEqual(['My_Sampler.x', 'demo-node', 'upscaler']);
    expect((await registry.nodes.search('upscaler')).map(({ id }) => id)).toEqual(['upscaler']);
    expect(await registry.nodes.readme('upscaler')).toMatchObject({ version: '1.0.0', text: '# Hello' });
    expect(await registry.hostNodes.list('upscaler', '1.0.0')).toBeUndefined();
    expect(await bytesOf(registry.download(version ?? {}))).toEqual(archive);
    expect(await registry.nodes.versions('unknown')).toEqual([]);
    expect(await registry.nodes.get('MY-sampler_X')).toMatchObject({ id: 'My_Sampler.x' });
    expect(await registry.nodes.get('unknown')).toBeUndefined();
  });

  test('asks only for changes after a minute', async () => {
    const index = reader();
    const found = await index.search('upscaler');
    requests.length = 0;

    const now = Date.now();
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now + 60_000);
    expect(await index.search('upscaler')).toEqual(found);
    clock.mockRestore();
    // The config and all sixteen pieces. Most pieces are empty.
    expect(requests.map(({ status }) => status)).toEqual(Array.from({ length: 17 }, () => 304));
  });

  test('downloads an archive, and rejects one with other bytes than were published', async () => {
    const index = reader();
    const version = (await index.node('upscaler'))?.latest_version;
    if (!version) throw new Error('The node has no version.');

    expect(await bytesOf(index.download(version))).toEqual(archive);
    const other = bytesOf(index.download({ ...version, sha256: '0'.repeat(64) }));
    await expect(other).rejects.toMatchObject({ code: 'wrong_digest' });
  });

  test.each<[string, string, (stream: ReadableStream<Uint8Array>) => Promise<unknown>]>([
    ['wrong_digest', 'is longer than published', (stream) => Array.fromAsync(stream)],
    [
      'given up',
      'its reader cancels',
      (stream) => stream.cancel().then(() => Promise.reject({ code: 'given up' })),
    ],
    ['not_found', 'is gone', (stream) => Array.fromAsync(stream)],
    ['unavailable', 'fails', (stream) => Array.fromAsync(stream)],
  ])('ends a download with %s, and its connection, if it %s', async (code, _, read) => {
    const closed = Promise.withResolvers<void>();
    const status = { not_found: 404, unavailable: 500 }[code] ?? 200;
    const endless = await serve((__, response) => {
      response.writeHead(status).on('close', closed.resolve);
      response.write('ab');
      if (code === 'wrong_digest') response.write('cd');
    });
    const downloadUrl = `${endless.url}/a.zip`;
    const version = { downloadUrl, sha256: '0'.repeat(64), size_bytes: 3 };
    stopTimers();

    await expect(reader().download(version).then(read)).rejects.toMatchObject({ code });
    await closed.promise;
  });

  test('says neither of a file nor of an archive that a foreign 403 means it is absent', async () => {
    const proxy = await serve((_, response) => response.writeHead(403).end('{"message":"Forbidden"}'));
    const index = createPublicIndex({ downloadsUrl: proxy.url });
    const version = { downloadUrl: `${proxy.url}/a.zip`, sha256: '0'.repeat(64) };
    const errors = [await errorOf(index.node('any')), await errorOf(index.downloadBlob(version))];

    const said = errors.map(({ code, status }) => `${code} ${status}`);
    expect(said).toEqual(['invalid_reply 403', 'invalid_reply 403']);
  });

  test('rejects a version without an archive', async () => {
    const { code } = await errorOf(reader().download({ downloadUrl: 'https://a.example.com/a.zip' }));
    expect(code).toBe('invalid_request');
  });

  test.each([
    ['missing', 404, '', 'Nothing is published yet at '],
    ['hidden', 403, '<Error/>', 'Nothing is published yet at '],
    ['not JSON', 200, '<!doctype html>', ''],
    ...[
      '{"version":2,"catalog_pieces":1}',
      ...[-1, 1.5, 10_001].map((count) => `{"version":1,"catalog_pieces":${count}}`),
    ].map((config) => ['of something else', 200, config, ''] as const),
  ])('rejects every question at an address whose config is %s: %i %s', async (_, status, text, sentence) => {
    const { url } = await serve((request, response) => {
      const isConfig = request.url === '/index/v1/config.json';
      response.writeHead(isConfig ? status : 404).end(isConfig ? text : '');
    });
    const index = createPublicIndex({ downloadsUrl: url });
    const ofNode = [index.node('any'), index.versions('any'), index.readme('any')];
    const questions = [index.catalog(), index.search('any'), ...ofNode, index.hostNodes('any', '1.0.0')];
    const errors = await Promise.all(questions.map(errorOf));

    for (const { code, message } of errors)
      expect([code, message]).toEqual(['invalid_reply', expect.stringContaining(`${sentence}${url}`)]);
  });

  test('rejects a file that is not JSON, and a missing address, by a code', async () => {
    const Key = 'index/v1/nodes/broken.json';
    await s3().send(new PutObjectCommand({ Bucket: bucketName(), Key, Body: 'not json' }));

    await expect(reader().node('broken')).rejects.toMatchObject({ code: 'invalid_reply', status: 200 });
    expect(() => createPublicIndex({ downloadsUrl: '' })).toThrow('The option downloadsUrl is missing.');
    const unreachable = createPublicIndex({ downloadsUrl: 'http://127.0.0.1:1', attempts: 1 });
    await expect(unreachable.node('any')).rejects.toMatchObject({ code: 'unreachable' });
    const withoutDownloads = createRegistryClient({ baseUrl: 'http://127.0.0.1:1' });
    await expect(withoutDownloads.nodes.get('any')).rejects.toThrow('The option downloadsUrl is missing.');
  });
});
