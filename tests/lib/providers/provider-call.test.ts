import type { IncomingHttpHeaders } from 'node:http';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { noon, stopDate } from '@node-registry/testing/clock';
import { lines } from '../../support/logged-lines.ts';
import { serve } from '../../support/serve.ts';
import { log, withLogFields } from '../../../lib/log.ts';
import { prepareTask, type Provider } from '../../../lib/providers/provider-call.ts';

interface Reply {
  status: number;
  retryAfter?: string;
  text?: string;
}

const received: IncomingHttpHeaders[] = [];
let forgotten = 0;
let reply: Reply = { status: 200 };
let meanwhile = () => {};

const server = await serve((request, response) => {
  received.push(request.headers);
  request.resume();
  meanwhile();
  response.writeHead(reply.status, reply.retryAfter === undefined ? {} : { 'retry-after': reply.retryAfter });
  response.end(reply.text ?? '{"task_id":"task-1"}');
});

const provider: Provider = {
  name: 'video',
  url: `http://127.0.0.1:${server.port}/`,
  key: {
    read: async () => 'a key',
    forget: () => {
      forgotten += 1;
    },
  },
  keyHeader: 'x-key',
  echoesRequest: false,
};

beforeEach(() => {
  received.length = 0;
  forgotten = 0;
  meanwhile = () => {};
});

/** One call, and a log line after it. */
function call(limitMs = 5000, changes: Partial<Provider> = {}) {
  const context = { deadline: Date.now() + limitMs };
  return withLogFields({}, async () => {
    try {
      const startTask = await prepareTask(context, { ...provider, ...changes }, '/x', {});
      return await startTask();
    } finally {
      log('info', 'called');
    }
  });
}

test('a request to a provider fails with a plain error if its key cannot be a header', async () => {
  const key = { ...provider.key, read: async () => 'two\nlines' };

  await expect(call(5000, { key })).rejects.toMatchObject({ name: 'TypeError' });
  expect(received).toEqual([]);
});

describe('the log line of a provider call', () => {
  test.each<[Reply, object]>([
    [{ status: 200 }, { provider_payment: 'taken', provider_task_id: 'task-1' }],
    [
      { status: 200, text: '{"data":{"task_id":7}}' },
      { provider_payment: 'taken', provider_task_id: '7' },
    ],
    [{ status: 422, text: '{}' }, { provider_payment: 'rejected' }],
    [{ status: 500 }, { provider_payment: 'unknown', provider_task_id: 'task-1' }],
    [{ status: 500, text: '' }, { provider_payment: 'unknown' }],
  ])('names the provider, its time, the payment state and the task id after %j', async (answer, expected) => {
    reply = answer;
    stopDate();
    meanwhile = () => stopDate(Date.now() + 1234);
    await call().catch(() => {});

    const called = { provider: 'video', provider_ms: 1234, provider_status: answer.status };
    expect(lines()).toEqual([{ level: 'info', event: 'called', ...called, ...expected }]);
  });

  test('contains no status if no reply came, and contains the number of attempts', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
    const began = performance.now();

    await expect(call(5000, { url: 'http://127.0.0.1:1' })).rejects.toMatchObject({
      code: 'provider_unreachable',
    });
    expect(lines()).toEqual([
      {
        level: 'info',
        event: 'called',
        provider: 'video',
        provider_ms: expect.any(Number),
        provider_payment: 'rejected',
        provider_attempts: 2,
      },
    ]);
    expect(performance.now() - began).toBeGreaterThan(190);
  });
});

test.each([
  [422, 'Too wide. Try less', 'The provider rejected the request: Too wide. Try less.'],
  [422, 'Too wide!', 'The provider rejected the request: Too wide!'],
  [422, '', 'The provider rejected the request.'],
  [402, 'Your card ends in 1234', 'The account of this service at the provider is out of credits.'],
])(
  'a failed provider call turns a %i with %j into the message %j, and keeps its cause',
  async (status, text, message) => {
    reply = { status, text: JSON.stringify({ message: text }) };
    const cause = { message: `the provider answered ${status}` };

    await expect(call()).rejects.toMatchObject({ message, cause });
  },
);

test('a rejected key of a provider is forgotten, after a 401 and a 403 alone, and nothing is sent again', async () => {
  const counts = [];
  for (const status of [200, 400, 500, 401, 403]) {
    reply = { status };
    await call().catch(() => {});
    counts.push(forgotten);
  }

  expect(counts).toEqual([0, 0, 0, 1, 2]);
  expect(received).toHaveLength(5);
});

describe('the remaining time of a provider call', () => {
  beforeEach(() => {
    // On a slow machine it would pass before anything is sent.
    jest.spyOn(Date, 'now').mockReturnValue(Date.now());
  });

  test('suffices for a reply, or nothing is sent and nothing is paid', async () => {
    reply = { status: 200 };

    await expect(call(999)).rejects.toMatchObject({ code: 'unavailable', payment: 'rejected' });
    expect(received).toEqual([]);
    expect(await call(1000)).toMatchObject({ task: { taskId: 'task-1' } });
  });

  test.each([
    [60_000, 25_000],
    [7000, 7000],
  ])('bounds the wait for a reply: of %i ms, %i', async (limitMs, timeoutMs) => {
    reply = { status: 200 };
    const timers = jest.spyOn(globalThis, 'setTimeout');
    await call(limitMs);

    expect(timers.mock.calls.map(([, ms]) => ms)).toContain(timeoutMs);
  });

  test('suffices for the wait and a reply, or there is no second attempt', async () => {
    reply = { status: 429, retryAfter: '1' };
    jest.spyOn(Math, 'random').mockReturnValue(0);

    await expect(call(1999)).rejects.toMatchObject({ code: 'provider_busy' });
    expect(received).toHaveLength(1);
    await expect(call(2000)).rejects.toMatchObject({ code: 'provider_busy' });
    expect(received).toHaveLength(3);
  });

  test('counts in whole seconds, rounded up, for a date to wait for', async () => {
    jest.spyOn(Date, 'now').mockReturnValue(noon() + 500);
    reply = { status: 429, retryAfter: new Date(noon() + 10_000).toUTCString() };

    await expect(call()).rejects.toMatchObject({ headers: { 'retry-after': '10' } });
  });
});
