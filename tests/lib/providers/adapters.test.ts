import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { withLogFields } from '../../../lib/log.ts';
import { TextToVideoReply } from '../../../lib/schemas/text-to-video.ts';

/** One server is both providers: it answers every request with `reply`. */
const received: { url: string | undefined; key: string | undefined; body: unknown }[] = [];
let reply: { status?: number; body: unknown } = { body: {} };

const server = createServer(async (request, response) => {
  const { 'x-image-key': imageKey, 'x-video-key': videoKey } = request.headers;
  const chunks = await request.toArray();
  received.push({
    url: request.url,
    key: String(imageKey ?? videoKey),
    body: JSON.parse(Buffer.concat(chunks).toString()),
  });
  response.writeHead(reply.status ?? 200).end(JSON.stringify(reply.body));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** The environment is read when an adapter is loaded, so that it is set before. */
Object.assign(process.env, {
  IMAGE_PROVIDER_URL: `${url}/image`,
  IMAGE_PROVIDER_KEY_HEADER: 'x-image-key',
  IMAGE_PROVIDER_KEY_SCHEME: 'Key',
  VIDEO_PROVIDER_URL: `${url}/video`,
  VIDEO_PROVIDER_KEY_HEADER: 'x-video-key',
  VIDEO_PROVIDER_MODEL_PREFIX: 'acme',
});
const { startRelight } = await import('../../../lib/providers/image-provider.ts');
const { startVideoTask } = await import('../../../lib/providers/video-provider.ts');

beforeEach(() => {
  received.length = 0;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const limits = () => ({ deadline: Date.now() + 5000, beforeSending: async () => {} });
const relightRequest = {
  image: 'https://example.com/a.png',
  change_background: true,
  interpolate_from_original: false,
  light_transfer_strength: 100,
  preserve_details: true,
  style: 'standard',
} as const;

function relight() {
  return startRelight(relightRequest, limits());
}

async function video(request: { model?: string; prompt?: string } = {}): Promise<Record<string, unknown>> {
  const { text } = await startVideoTask('text2video', request, TextToVideoReply, limits());
  return JSON.parse(text);
}

const task = { task_id: 'task-1', state: 'created', credits: 5 };

describe('the image provider', () => {
  test('gets the request at its path, with its key as the environment says', async () => {
    reply = { body: { data: { task_id: 'task-1' } } };
    const fields = {};
    await withLogFields(fields, relight);

    expect(received).toEqual([
      { url: '/image/v1/ai/image-relight', key: 'Key image-key-of-the-tests', body: relightRequest },
    ]);
    expect(fields).toMatchObject({ provider: 'image', provider_outcome: 'answered' });
  });

  test.each([
    [
      { task_id: 'task-1', status: 'IN_PROGRESS', generated: ['a', 'b'] },
      { task_id: 'task-1', status: 'IN_PROGRESS', generated: ['a', 'b'] },
    ],
    [{ task_id: 'task-1' }, { task_id: 'task-1', status: 'CREATED', generated: [] }],
    [
      { task_id: 'task-1', status: 'DONE', generated: 'a' },
      { task_id: 'task-1', status: 'CREATED', generated: [] },
    ],
    [
      { task_id: 'task-1', generated: ['a', null, 7], more: 1 },
      { task_id: 'task-1', status: 'CREATED', generated: ['a'] },
    ],
  ])('that replies %j is understood as %j', async (data, understood) => {
    reply = { body: { data } };

    expect(await relight()).toEqual({ data: understood });
  });

  test.each([
    [{}],
    [{ data: null }],
    [{ data: 'task-1' }],
    [{ data: [] }],
    [{ data: {} }],
    [{ data: { task_id: '' } }],
  ])('that replies %j has not said which task it started', async (body) => {
    reply = { body };

    await expect(relight()).rejects.toMatchObject({ code: 'provider_invalid_reply', settlement: 'answered' });
  });

  test('repeats no request, so that a reply of 2.5 MB is none', async () => {
    reply = { body: { data: { task_id: 'task-1' }, more: 'x'.repeat(2_500_000) } };
    const request = { ...relightRequest, image: 'A'.repeat(300_000) };

    await expect(startRelight(request, limits())).rejects.toMatchObject({ code: 'provider_invalid_reply' });
  });

  test.each([
    [undefined, []],
    ['image', []],
    [[], []],
    [[null, 'image', { name: 'image', reason: 'too small' }], [{ path: 'body.image', message: 'too small' }]],
    [[{ name: 7, reason: 3 }], [{ path: 'body', message: '3' }]],
  ])('that names the faults %j is passed on with %j', async (invalid_params, details) => {
    reply = { status: 422, body: { message: 'Validation failed', invalid_params } };

    await expect(relight()).rejects.toMatchObject({
      code: 'provider_rejected',
      message: 'The provider rejected the request: Validation failed.',
      details,
    });
  });
});

describe('the video provider', () => {
  test('gets the request at its path, with its key as the environment says', async () => {
    reply = { body: task };
    const fields = {};
    await withLogFields(fields, () => video({ prompt: 'A boat' }));

    expect(received).toEqual([
      { url: '/video/text2video', key: 'Token video-key-of-the-tests', body: { prompt: 'A boat' } },
    ]);
    expect(fields).toMatchObject({ provider: 'video', provider_outcome: 'answered', credits: 5 });
  });

  test.each([
    ['vidq3-pro', 'acmeq3-pro'],
    ['vid2.0', 'acme2.0'],
    ['q3-vid', 'q3-vid'],
  ])('knows our model %s as %s', async (ours, theirs) => {
    reply = { body: { ...task, model: theirs } };

    expect(await video({ model: ours })).toMatchObject({ model: ours });
    expect(received).toMatchObject([{ body: { model: theirs } }]);
  });

  test('is passed on with its echoes beside what every task has', async () => {
    const echoes = { prompt: 'A boat', seed: 7, images: ['a'] };
    const created_at = '2026-01-02T03:04:05.123456789Z';
    reply = { body: { ...task, ...echoes, created_at, model: 7, bgm: 'no', more: 1 } };

    expect(await video()).toEqual({ ...task, ...echoes, created_at: '2026-01-02T03:04:05.123456Z' });
  });

  test.each([
    [{ ...task, task_id: undefined }],
    [{ ...task, task_id: '' }],
    [{ ...task, state: 'pending' }],
    [{ ...task, state: undefined }],
    [{ ...task, credits: undefined }],
    [{ ...task, credits: 1.5 }],
  ])('that replies %j has not said which task it started', async (body) => {
    reply = { body };

    await expect(video()).rejects.toMatchObject({ code: 'provider_invalid_reply', settlement: 'answered' });
  });

  test('repeats the request, with every character escaped if it likes', async () => {
    reply = { body: { ...task, prompt: 'x'.repeat(2_500_000) } };

    expect(await video({ prompt: 'x'.repeat(300_000) })).toMatchObject(task);
  });

  test.each([
    [{ reason: 'Nope', message: 'The prompt is bad' }, 'The prompt is bad.'],
    [{ reason: 'Nope', message: '' }, 'Nope.'],
  ])('that says %j has rejected the request: %s', async (body, text) => {
    reply = { status: 400, body };

    await expect(video()).rejects.toMatchObject({
      code: 'provider_rejected',
      message: `The provider rejected the request: ${text}`,
    });
  });

  test('that has no credits left says so under any status', async () => {
    reply = { status: 400, body: { reason: 'CreditInsufficient', message: 'Top up' } };

    await expect(video()).rejects.toMatchObject({ code: 'provider_quota' });
  });
});
