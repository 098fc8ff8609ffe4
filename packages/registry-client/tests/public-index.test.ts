import { beforeAll, describe, expect, test } from '@jest/globals';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { handler } from '../../../functions/write-index.ts';
import { bucketName, s3 } from '../../../lib/bucket/bucket.ts';
import { downloadUrl } from '../../../lib/bucket/download-url.ts';
import { dynamodb } from '../../../lib/store/table.ts';
import { setFields } from '../../../tests/support/registry.ts';
import { filtered, recordStream } from '../../../tests/support/table-stream.ts';
import { finalize, publish, put } from '../../../tests/support/uploads.ts';
import { zip } from '../../../tests/support/zip.ts';
import { seed } from '../../../tools/local/seed.ts';
import { nodeKey } from '../../../lib/store/keys.ts';
import { createPublicIndex } from '../client.ts';

const archive = zip([{ name: 'node.py', data: 'NODE_CLASS_MAPPINGS = {}\n' }]);
const downloadsUrl = () => downloadUrl('').replace(/\/$/, '');
const requests: { url: string; status: number }[] = [];

/** Reads the files of the embedded S3, as the distribution of a deployed stage serves them. */
const observed: typeof fetch = async (url, init) => {
  const response = await fetch(url, init);
  requests.push({ url: String(url), status: response.status });
  return response;
};
const reader = () => createPublicIndex({ downloadsUrl: downloadsUrl(), fetch: observed });

beforeAll(async () => {
  const stream = recordStream(dynamodb);
  await seed();
  for (const [id, fields] of Object.entries({
    upscaler: { name: 'Video Upscaler', tags: ['video'] },
    'My_Sampler.x': { description: 'Samples a video twice', search_ranking: 5 },
  })) {
    const upload = await publish(id, '1.0.0');
    await put(upload, archive);
    await finalize(upload);
    await setFields(nodeKey(id), fields);
  }
  await handler(filtered(stream.take()), { getRemainingTimeInMillis: () => 30_000 });
  stream.stop();
});

describe('createPublicIndex', () => {
  test('reads a node under every spelling of its id', async () => {
    const node = await reader().node('MY-sampler_X');

    expect(node).toMatchObject({ id: 'My_Sampler.x', versions: [{ version: '1.0.0' }] });
  });

  test('returns undefined for a node and for host nodes that are not there', async () => {
    expect(await reader().node('unknown')).toBeUndefined();
    expect(await reader().hostNodes('upscaler', '9.9.9')).toBeUndefined();
  });

  test('lists every active node, those with the higher ranking first', async () => {
    expect((await reader().catalog()).map(({ id }) => id)).toEqual(['My_Sampler.x', 'demo-node', 'upscaler']);
  });

  test('finds the nodes that contain every word, and ranks a name above a description', async () => {
    const index = reader();

    expect((await index.search('video')).map(({ id }) => id)).toEqual(['upscaler', 'My_Sampler.x']);
    expect((await index.search('VIDEO twice')).map(({ id }) => id)).toEqual(['My_Sampler.x']);
    expect(await index.search('video nothing')).toEqual([]);
    expect(await index.search('  ')).toEqual([]);
  });

  test('downloads a file again only after it has changed', async () => {
    const index = reader();
    const first = await index.node('upscaler');
    requests.length = 0;

    expect(await index.node('upscaler')).toEqual(first);
    expect(requests.map(({ status }) => status)).toEqual([304]);
  });

  test('downloads an archive, and rejects one with other bytes than were published', async () => {
    const index = reader();
    const version = (await index.node('upscaler'))?.latest_version;
    if (!version) throw new Error('The node has no version.');

    expect(Buffer.from(await index.download(version)).equals(archive)).toBe(true);
    await expect(index.download({ ...version, sha256: '0'.repeat(64) })).rejects.toMatchObject({
      code: 'wrong_digest',
    });
  });

  test('rejects a file that is not JSON, and a missing address, by a code', async () => {
    const Key = 'index/v1/nodes/broken.json';
    await s3().send(new PutObjectCommand({ Bucket: bucketName(), Key, Body: 'not json' }));

    await expect(reader().node('broken')).rejects.toMatchObject({ code: 'invalid_reply', status: 200 });
    expect(() => createPublicIndex({ downloadsUrl: '' })).toThrow('The option downloadsUrl is missing.');
    await expect(createPublicIndex({ downloadsUrl: 'http://127.0.0.1:1' }).node('any')).rejects.toMatchObject(
      {
        code: 'unreachable',
      },
    );
  });
});
