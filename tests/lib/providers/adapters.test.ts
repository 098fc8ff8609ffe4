import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { textToVideo } from '../../../lib/contracts/text-to-video.ts';
import { withLogFields } from '../../../lib/log.ts';
import type { Provider } from '../../../lib/providers/exchange.ts';
import { ProviderCall, type StartedTask } from '../../../lib/providers/provider-call.ts';
import { loggedLines } from '../../support/logged-lines.ts';
import { imageProvider, relightReply } from '../../../lib/providers/image-provider.ts';
import { videoBody, videoProvider, videoReply } from '../../../lib/providers/video-provider.ts';
import { setVariables } from '../../support/variables.ts';

/** One server for both providers. It answers every request with `reply`. */
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

setVariables({
  IMAGE_PROVIDER_URL: `${url}/image`,
  IMAGE_PROVIDER_KEY_HEADER: 'x-image-key: Key',
  VIDEO_PROVIDER_URL: `${url}/video`,
  VIDEO_PROVIDER_KEY_HEADER: 'x-video-key: Token',
  VIDEO_PROVIDER_MODEL_PREFIX: 'acme',
});

beforeEach(() => {
  received.length = 0;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const soon = () => ({ deadline: Date.now() + 5000 });

async function sent(provider: () => Provider, path: string, body: object): Promise<StartedTask> {
  const call = new ProviderCall(soon(), provider(), path);
  await call.prepare(body);
  return call.startTask();
}

const relightRequest = {
  image: 'https://example.com/a.png',
  change_background: true,
  interpolate_from_original: false,
  light_transfer_strength: 100,
  preserve_details: true,
  style: 'standard',
} as const;

async function relight() {
  return relightReply(await sent(imageProvider, '/v1/ai/image-relight', relightRequest));
}

async function video(request: { model?: string; prompt?: string } = {}): Promise<Record<string, unknown>> {
  const started = await sent(videoProvider, '/text2video', videoBody(request));
  return JSON.parse(videoReply(textToVideo)(started, request, 0).text);
}

const task = { task_id: 'task-1', state: 'created', credits: 5 };

describe('the image provider', () => {
  test('receives the request at its path, with its key in the configured header', async () => {
    reply = { body: { data: { task_id: 'task-1' } } };
    const fields = {};
    await withLogFields(fields, relight);

    expect(received).toEqual([
      { url: '/image/v1/ai/image-relight', key: 'Key image-key-of-the-tests', body: relightRequest },
    ]);
    expect(fields).toMatchObject({
      provider: 'image',
      provider_payment: 'taken',
      provider_task_id: 'task-1',
    });
  });

  test.each([
    [
      { task_id: 'task-1', status: 'IN_PROGRESS', generated: ['a', 'b'] },
      { task_id: 'task-1', status: 'IN_PROGRESS', generated: ['a', 'b'] },
    ],
    [{ task_id: 'task-1' }, { task_id: 'task-1', status: 'CREATED', generated: [] }],
    [
      { task_id: 'task-1', status: 'PAUSED', generated: 'a' },
      { task_id: 'task-1', status: 'CREATED', generated: [] },
    ],
    [
      { task_id: 'task-1', generated: ['a', null, 7], more: 1 },
      { task_id: 'task-1', status: 'CREATED', generated: ['a'] },
    ],
  ])('replies %j, which is read as %j', async (data, expected) => {
    reply = { body: { data } };

    expect(await relight()).toEqual({ data: expected });
  });

  test('answers with at most 1 MB, regardless of the size of the request', async () => {
    reply = { body: { data: { task_id: 'task-1' }, more: 'x'.repeat(2_500_000) } };
    const request = { ...relightRequest, image: 'A'.repeat(300_000) };

    await expect(sent(imageProvider, '/v1/ai/image-relight', request)).rejects.toMatchObject({
      code: 'provider_invalid_reply',
    });
  });
});

describe('the video provider', () => {
  test('receives the request at its path, with its key in the configured header', async () => {
    reply = { body: task };
    const fields = {};
    await withLogFields(fields, () => video({ prompt: 'A boat' }));

    expect(received).toEqual([
      { url: '/video/text2video', key: 'Token video-key-of-the-tests', body: { prompt: 'A boat' } },
    ]);
    expect(fields).toMatchObject({
      provider: 'video',
      provider_payment: 'taken',
      provider_task_id: 'task-1',
      credits: 5,
    });
  });

  test.each([
    ['vidq3-pro', 'acmeq3-pro'],
    ['vid2.0', 'acme2.0'],
    ['q3-vid', 'q3-vid'],
  ])('receives our model %s as %s', async (ours, theirs) => {
    reply = { body: { ...task, model: theirs } };

    expect(await video({ model: ours })).toMatchObject({ model: ours });
    expect(received).toMatchObject([{ body: { model: theirs } }]);
  });

  // Values that aren't prices: reply-fields.test.ts and tests/contract.test.ts.
  test.each([
    [{ task_id: 'task-1' }, { state: 'created', credits: 0 }, ['state', 'credits']],
    [{ ...task, state: 'paused' }, { state: 'created', credits: 5 }, ['state']],
    [{ ...task, credits: 'five' }, { state: 'created', credits: 0 }, ['credits']],
  ])('answers the task of the reply %j with a warning in the log', async (body, read, unreadable) => {
    reply = { body };
    loggedLines.length = 0;
    const fields: Record<string, unknown> = {};

    expect(await withLogFields(fields, () => video())).toMatchObject({ task_id: 'task-1', ...read });
    expect(loggedLines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', event: 'provider_reply', provider_task_id: 'task-1', unreadable },
    ]);
    expect(fields.credits).toBe(unreadable.includes('credits') ? undefined : 5);
  });

  test('repeats a request with every character escaped', async () => {
    reply = { body: { ...task, prompt: 'x'.repeat(2_500_000) } };

    expect(await video({ prompt: 'x'.repeat(300_000) })).toMatchObject(task);
  });
});
