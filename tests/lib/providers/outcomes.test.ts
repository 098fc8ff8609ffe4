import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import type { Misbehavior } from '../../../tools/simulators/misbehaviors.ts';
import { invoke } from '../../support/invoke.ts';
import { lines } from '../../support/logged-lines.ts';
import {
  acceptedTasks,
  misbehave,
  outwaitProvider,
  type ProxyName,
  proxies,
  simulation,
} from '../../support/proxies.ts';

/** What the provider does, what our caller gets, and how often the provider was called if not once. */
type Row = [
  misbehavior: Misbehavior,
  status: number,
  code: string,
  more?: { retryAfter?: string; sent?: number },
];

const unreadable: Misbehavior[] = [
  ...['', '{"task_id":', 'null', '[]', '{}'].map((text): Misbehavior => ({ kind: 'text', text })),
  ...[302, 308].map((status): Misbehavior => ({ kind: 'redirect', status })),
  { kind: 'text', status: 302, text: '{"task_id":"7"}' },
  { kind: 'html' },
  { kind: 'text', status: 204 },
  { kind: 'truncated' },
  { kind: 'oversize' },
  { kind: 'reset', stage: 'after_headers' },
  { kind: 'reply', without: ['task_id'] },
  ...['', null, { a: 1 }].map((task_id): Misbehavior => ({ kind: 'reply', fields: { task_id } })),
];

function busy(reply: Partial<Misbehavior>, more: Row[3] = {}): Row {
  return [{ ...reply, kind: 'status' }, 429, 'provider_busy', more];
}

const common: Row[] = [
  ...[400, 404, 405, 409, 410, 413, 415, 418, 422, 451, 499].map(
    (status): Row => [{ kind: 'status', status }, 400, 'provider_rejected'],
  ),
  ...[408, 500, 501, 502, 503, 504, 599].map(
    (status): Row => [{ kind: 'status', status }, 502, 'provider_failed'],
  ),
  [{ kind: 'status', status: 401, retryAfter: 0 }, 502, 'provider_credentials'],
  [{ kind: 'status', status: 402 }, 503, 'provider_quota'],
  [{ kind: 'status', status: 403 }, 502, 'provider_credentials'],
  ...[{}, { retryAfter: 'soon' }, { retryAfter: -1 }].map((asked) => busy({ status: 429, ...asked })),
  busy({ status: 429, retryAfter: 60 }, { retryAfter: '60' }),
  busy({ status: 429, retryAfter: 4 }, { retryAfter: '4' }),
  busy({ status: 503, retryAfter: 3600 }, { retryAfter: '3600' }),
  busy({ status: 503, retryAfter: 0 }, { retryAfter: '0' }),
  busy({ status: 429, retryAfter: 0, times: 2 }, { retryAfter: '0', sent: 2 }),
  [{ kind: 'status', status: 500, retryAfter: 0 }, 502, 'provider_failed'],
  [{ kind: 'html', status: 400 }, 400, 'provider_rejected'],
  [{ kind: 'html', status: 502 }, 502, 'provider_failed'],
  [{ kind: 'text', status: 500, text: 'null' }, 502, 'provider_failed'],
  [{ kind: 'reset' }, 504, 'provider_timeout'],
  ...unreadable.map((misbehavior): Row => [misbehavior, 502, 'provider_invalid_reply']),
];

/** Replies that begin, and are not complete at the deadline. */
const cutOff: Row[] = [
  [{ kind: 'stall', stage: 'after_headers', status: 422 }, 400, 'provider_rejected'],
  [{ kind: 'stall', stage: 'after_headers', status: 500 }, 502, 'provider_failed'],
  [{ kind: 'trickle', ms: 500, bytes: 1 }, 504, 'provider_timeout'],
  [{ kind: 'stall', stage: 'after_headers', text: '{"task_id":"7"}' }, 504, 'provider_timeout'],
];

const onlyVideo: Row[] = [
  [{ kind: 'status', status: 400, reason: 'CreditInsufficient' }, 503, 'provider_quota'],
  [{ kind: 'status', status: 403, reason: 'CreditInsufficient' }, 503, 'provider_quota'],
  [{ kind: 'status', status: 429, reason: 'CreditInsufficient', retryAfter: 0 }, 503, 'provider_quota'],
  [{ kind: 'text', status: 400, text: '{"code":"E1","reason":"Nope"}' }, 400, 'provider_rejected'],
  [{ kind: 'text', status: 400, text: '{"code":"CreditInsufficient"}' }, 503, 'provider_quota'],
  [{ kind: 'status', status: 500, reason: 'CreditInsufficient' }, 502, 'provider_failed'],
];

/** Both adapters share what reads a reply; the image provider's finds the task and its errors in other places. */
const ofImages: Row[] = [
  ...common.filter(([{ kind }]) => kind === 'reply'),
  [{ kind: 'status', status: 422 }, 400, 'provider_rejected'],
];

describe.each<[ProxyName, Row[]]>([
  ['relight-image', ofImages],
  ['text-to-video', [...common, ...onlyVideo]],
])('a provider that misbehaves to %s', (name, rows) => {
  test.each(rows)('is answered for after %j with %i %s', async (misbehavior, status, code, more = {}) => {
    misbehave(misbehavior);
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
});

const generate = () => invoke(proxies['text-to-video'], 'text-to-video');

test('a reply that is incomplete at the deadline is answered by its status', async () => {
  for (const [misbehavior] of cutOff) misbehave(misbehavior);
  let heads = 0;
  const onHead = (message: unknown) => {
    const { path } = (message as { request: ClientRequest }).request;
    if (path.startsWith('/video/')) heads += 1;
  };
  subscribe('http.client.response.finish', onHead);
  const results = await outwaitProvider(
    () => Promise.all(cutOff.map(generate)),
    () => heads === cutOff.length,
  );
  unsubscribe('http.client.response.finish', onHead);
  const answers = results.map(({ status, body }) => `${status} ${body.error}`);

  expect(results.map(({ body }) => body.message).join()).toContain('The reply named the task 7.');
  expect(answers.sort()).toEqual(cutOff.map(([, status, code]) => `${status} ${code}`).sort());
  expect(simulation.received).toHaveLength(cutOff.length);
});

describe('a task that an odd reply names', () => {
  test('is given to the caller whatever its id', async () => {
    const task_id = `films/7 é ${'a'.repeat(300)}`;
    misbehave({ kind: 'reply', fields: { task_id } });
    const { status, body } = await generate();

    expect([status, body.task_id]).toEqual([200, task_id]);
  });

  const task = '{"task_id" : "task-7","credits":5,"state":"PENDING"}';

  test('is answered if the reply is a list', async () => {
    misbehave({ kind: 'text', text: ` [null,{"task_id":""},${task}]` });
    const { status, body, headers } = await generate();

    expect([status, headers['x-credits-used']]).toEqual([200, '5']);
    expect(body).toMatchObject({ task_id: 'task-7', credits: 5, state: 'queueing' });
  });

  test.each([
    ['as text', `${task.slice(0, -1)},"payload":"{\\"task_id\\":\\"other\\"`],
    ['as a number', '{"credits":5,"data":{"task_id":867913241582301184 ,"a":{"task_id":"deeper"},'],
    ['in a list', `[${task},`],
  ])('is told and logged if the reply is cut off after it, %s', async (_, text) => {
    const id = /task-7|\d{18}/.exec(text)?.[0];
    misbehave({ kind: 'text', text });
    const { status, body } = await generate();

    expect([status, body.error]).toEqual([502, 'provider_invalid_reply']);
    expect(body.message).toContain(`The reply named the task ${id}.`);
    expect(lines().at(-1)).toMatchObject({ provider_task_id: id });
  });

  test.each(['{"task_id":"7', '{"task_id":7', '{"payload":"{\\"task_id\\":\\"7\\"'])(
    'is not guessed from %s',
    async (text) => {
      misbehave({ kind: 'text', text });
      const { body } = await generate();

      expect(body.message).not.toContain('The reply named');
    },
  );
});

test('a lost connection is answered as an unknown outcome, whose key is never sent again', async () => {
  misbehave({ kind: 'reset' });
  const { body } = await generate();

  expect(body.message).toMatch(
    /^The connection to the provider was lost.*outcome is unknown.*same Idempotency-Key is never sent/,
  );
});
