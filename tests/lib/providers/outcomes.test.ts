import { describe, expect, test } from '@jest/globals';
import type { Misbehavior } from '../../../tools/simulators/misbehaviors.ts';
import { invoke } from '../../support/invoke.ts';
import { acceptedTasks, misbehave, type ProxyName, proxies, simulation } from '../../support/proxies.ts';

/** What the provider does; what our caller gets; how often the provider was asked, where not once. */
type Row = [
  misbehavior: Misbehavior,
  status: number,
  code: string,
  more?: { retryAfter?: string; sent?: number },
];

/** Rows that hold for either provider, each in its own error shape. */
const common: Row[] = [
  [{ kind: 'status', status: 400, message: 'Bad image' }, 400, 'provider_rejected'],
  [{ kind: 'status', status: 401 }, 502, 'provider_credentials'],
  [{ kind: 'status', status: 402 }, 503, 'provider_quota'],
  [{ kind: 'status', status: 403 }, 502, 'provider_credentials'],
  [{ kind: 'status', status: 404 }, 400, 'provider_rejected'],
  [{ kind: 'status', status: 405 }, 502, 'provider_failed'],
  [{ kind: 'status', status: 408 }, 502, 'provider_failed'],
  [{ kind: 'status', status: 409 }, 400, 'provider_rejected'],
  [{ kind: 'status', status: 413 }, 400, 'provider_rejected'],
  [{ kind: 'status', status: 418 }, 502, 'provider_failed'],
  [{ kind: 'status', status: 422 }, 400, 'provider_rejected'],
  [{ kind: 'status', status: 429 }, 429, 'provider_busy'],
  [{ kind: 'status', status: 429, retryAfter: 60 }, 429, 'provider_busy', { retryAfter: '60' }],
  [{ kind: 'status', status: 429, retryAfter: 'soon' }, 429, 'provider_busy'],
  [{ kind: 'status', status: 429, retryAfter: -1 }, 429, 'provider_busy'],
  [
    { kind: 'status', status: 429, retryAfter: 0, times: 2 },
    429,
    'provider_busy',
    { retryAfter: '0', sent: 2 },
  ],
  [{ kind: 'status', status: 500 }, 502, 'provider_failed'],
  [{ kind: 'status', status: 500, retryAfter: 0 }, 502, 'provider_failed'],
  [{ kind: 'status', status: 501 }, 502, 'provider_failed'],
  [{ kind: 'status', status: 502 }, 502, 'provider_failed'],
  [{ kind: 'status', status: 503 }, 502, 'provider_failed'],
  [{ kind: 'status', status: 503, retryAfter: 3600 }, 429, 'provider_busy', { retryAfter: '3600' }],
  [{ kind: 'status', status: 503, retryAfter: 0 }, 429, 'provider_busy', { retryAfter: '0' }],
  [{ kind: 'status', status: 429, retryAfter: 4 }, 429, 'provider_busy', { retryAfter: '4' }],
  [{ kind: 'status', status: 504 }, 502, 'provider_failed'],
  [{ kind: 'status', status: 599 }, 502, 'provider_failed'],
  [{ kind: 'html', status: 400 }, 400, 'provider_rejected'],
  [{ kind: 'html', status: 403 }, 502, 'provider_credentials'],
  [{ kind: 'html', status: 502 }, 502, 'provider_failed'],
  [{ kind: 'html' }, 502, 'provider_invalid_reply'],
  [{ kind: 'text', text: '' }, 502, 'provider_invalid_reply'],
  [{ kind: 'text', status: 204 }, 502, 'provider_invalid_reply'],
  [{ kind: 'text', text: '{"task_id":' }, 502, 'provider_invalid_reply'],
  [{ kind: 'text', text: 'null' }, 502, 'provider_invalid_reply'],
  [{ kind: 'text', text: '[]' }, 502, 'provider_invalid_reply'],
  [{ kind: 'text', text: '{}' }, 502, 'provider_invalid_reply'],
  [{ kind: 'text', status: 500, text: 'null' }, 502, 'provider_failed'],
  [{ kind: 'redirect', status: 302 }, 502, 'provider_invalid_reply'],
  [{ kind: 'redirect', status: 307 }, 502, 'provider_invalid_reply'],
  [{ kind: 'redirect', status: 308 }, 502, 'provider_invalid_reply'],
  [{ kind: 'truncated' }, 502, 'provider_invalid_reply'],
  [{ kind: 'oversize' }, 502, 'provider_invalid_reply'],
  [{ kind: 'reset' }, 504, 'provider_timeout'],
  [{ kind: 'reset', stage: 'after_headers' }, 502, 'provider_invalid_reply'],
  [{ kind: 'reply', without: ['task_id'] }, 502, 'provider_invalid_reply'],
  [{ kind: 'reply', fields: { task_id: '' } }, 502, 'provider_invalid_reply'],
  [{ kind: 'reply', fields: { task_id: null } }, 502, 'provider_invalid_reply'],
  [{ kind: 'reply', fields: { task_id: { a: 1 } } }, 502, 'provider_invalid_reply'],
];

/** Replies that do not come, or not to their end, within the time that is left. */
const silent: Row[] = [
  [{ kind: 'stall' }, 504, 'provider_timeout'],
  [{ kind: 'stall', stage: 'after_headers' }, 504, 'provider_timeout'],
  [{ kind: 'stall', stage: 'after_headers', status: 422 }, 400, 'provider_rejected'],
  [{ kind: 'stall', stage: 'after_headers', status: 500 }, 502, 'provider_failed'],
  [{ kind: 'delay', ms: 3000 }, 504, 'provider_timeout'],
  [{ kind: 'trickle', ms: 500, bytes: 1 }, 504, 'provider_timeout'],
];

const onlyVideo: Row[] = [
  [{ kind: 'status', status: 400, reason: 'CreditInsufficient' }, 503, 'provider_quota'],
  [{ kind: 'status', status: 403, reason: 'CreditInsufficient' }, 503, 'provider_quota'],
  [{ kind: 'status', status: 429, reason: 'CreditInsufficient', retryAfter: 0 }, 503, 'provider_quota'],
  [
    { kind: 'text', status: 400, text: '{"code":"E1","reason":"Nope","message":""}' },
    400,
    'provider_rejected',
  ],
  [{ kind: 'text', status: 400, text: '{"code":"CreditInsufficient"}' }, 503, 'provider_quota'],
  [{ kind: 'status', status: 500, reason: 'CreditInsufficient' }, 502, 'provider_failed'],
];

function testRows(name: ProxyName, rows: Row[]): void {
  test.each(rows)('%j is answered with %i %s', async (misbehavior, status, code, more = {}) => {
    misbehave({ ...misbehavior, provider: providerOf(name) });
    const answer = await invoke(proxies[name], name);

    expect([answer.status, answer.body.error]).toEqual([status, code]);
    expect(answer.headers).toEqual({
      'content-type': 'application/json',
      'x-request-id': `sample-${name}`,
      ...(more.retryAfter && { 'retry-after': more.retryAfter }),
    });
    expect(simulation.received).toHaveLength(more.sent ?? 1);
    expect(acceptedTasks()).toBeLessThanOrEqual(1);
  });

  test('a reply that does not end in time is answered by what is known of it', async () => {
    for (const [misbehavior] of silent) misbehave({ ...misbehavior, provider: providerOf(name) });
    const calls = silent.map(() => invoke(proxies[name], name, { remainingMs: 2100 }));
    const answers = (await Promise.all(calls)).map(({ status, body }) => `${status} ${body.error}`);

    expect(answers.sort()).toEqual(silent.map(([, status, code]) => `${status} ${code}`).sort());
    expect(simulation.received).toHaveLength(silent.length);
  });
}

function providerOf(name: ProxyName): 'image' | 'video' {
  return name === 'relight-image' ? 'image' : 'video';
}

describe('what the image provider does', () => {
  testRows('relight-image', common);
});

describe('what the video provider does', () => {
  testRows('text-to-video', [...common, ...onlyVideo]);
});

describe('what the caller is told', () => {
  const call = () => invoke(proxies['text-to-video'], 'text-to-video', { remainingMs: 2100 });

  test('names the faults that the image provider names', async () => {
    misbehave({
      kind: 'status',
      status: 422,
      message: 'Validation failed',
      invalidParams: [{ name: 'image', reason: 'too small' }],
    });
    const { body } = await invoke(proxies['relight-image'], 'relight-image');

    expect(body).toEqual({
      error: 'provider_rejected',
      message: 'The provider rejected the request: Validation failed.',
      details: [{ path: 'body.image', message: 'too small' }],
      request_id: 'sample-relight-image',
    });
  });

  test('shows a text of the provider without markup, control characters, keys and images', async () => {
    const secret = process.env.VIDEO_PROVIDER_KEY;
    const message = `Bad\n<b>key</b>\u0000 ${secret} image ${'iVBOR/w0'.repeat(20)} ${'x '.repeat(1000)}`;
    misbehave({ kind: 'status', status: 400, message });
    const { body } = await call();

    expect(body.message).toMatch(/^The provider rejected the request: Bad key … image … (x ?)+…$/);
    expect(body.message.length).toBeLessThan(350);
  });

  test.each<[Misbehavior, RegExp]>([
    [{ kind: 'stall' }, /did not answer in time/],
    [{ kind: 'reset' }, /connection .* was lost/],
    [{ kind: 'status', status: 500 }, /failed after it had received the request/],
    [{ kind: 'html' }, /reply that could not be read/],
  ])('says after %j that the outcome is unknown and that the key is never sent again', async (one, what) => {
    misbehave(one);
    const { body } = await call();

    expect(body.message).toMatch(what);
    expect(body.message).toMatch(/outcome is unknown.*same Idempotency-Key is never sent a second time/);
  });

  test.each<[object]>([
    [{ state: 'pending', credits: 'many' }],
    [{ state: null, credits: null }],
    [{ state: 7, credits: 1.5 }],
  ])('is the task of a reply with %j, which was paid for', async (fields) => {
    misbehave({ kind: 'reply', fields: { ...fields } });
    const { status, body } = await call();

    expect([status, body.state, body.credits]).toEqual([200, 'created', 0]);
    expect(body.task_id).toBe(simulation.received[0]?.taskId);
  });

  test('passes a task id on digit by digit, though it is a number no double holds', async () => {
    misbehave({ kind: 'numeric_ids', times: 2 });
    const video = await call();
    const image = await invoke(proxies['relight-image'], 'relight-image');

    expect(video.body.task_id).toBe('867913241582301184');
    expect(image.body.data.task_id).toBe('867913241582301184');
  });

  test('passes such a task id on however the reply is spaced', async () => {
    misbehave({
      kind: 'text',
      text: '{"state":"created" ,"credits":1, "task_id" : 867913241582301184 , "seed":1}',
    });

    expect((await call()).body.task_id).toBe('867913241582301184');
  });

  test.each([
    ['2026-01-02T03:04:05.123456789Z', '2026-01-02T03:04:05.123456Z'],
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02T03:04:05.1+08:00', '2026-01-02T03:04:05.1+08:00'],
    ['yesterday', expect.stringMatching(/Z$/)],
    [1767323045, expect.stringMatching(/Z$/)],
    ['2026-13-45T03:04:05Z', expect.stringMatching(/Z$/)],
  ])('answers the creation time %j in a form that clients take', async (created_at, answered) => {
    misbehave({ kind: 'reply', fields: { created_at } });
    const { body } = await call();

    expect(body.created_at).toEqual(answered);
  });

  test('leaves out echoes of a wrong type, and fills in what the image provider leaves out', async () => {
    misbehave({
      provider: 'video',
      kind: 'reply',
      fields: { duration: '5', model: 7, seed: 1.5, bgm: 'no' },
    });
    misbehave({ provider: 'image', kind: 'reply', fields: { generated: 'x', status: 'DONE' } });
    const video = await call();
    const image = await invoke(proxies['relight-image'], 'relight-image');

    expect(video.status).toBe(200);
    expect(video.body).not.toHaveProperty('duration');
    expect(video.body).not.toHaveProperty('model');
    expect(image.body.data).toMatchObject({ generated: [], status: 'CREATED' });
  });
});
