import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Context } from 'aws-lambda';
import * as z from 'zod/mini';
import type { Access, Contract } from '../../../lib/contract.ts';
import { calling } from '../../../lib/context.ts';
import { ApiError } from '../../../lib/errors.ts';
import { stopDate } from '@node-registry/testing/clock';
import { type Changes, invoke, type Result, sampleEvent } from '../../support/invoke.ts';
import { lines } from '../../support/logged-lines.ts';
import { endpoint } from '../../../lib/http/endpoint.ts';
import { keyedEndpoint } from '../../../lib/http/keyed-endpoint.ts';
import { timed } from '../../support/timed.ts';
import { bearer } from '../../support/tokens.ts';
import { setVariables } from '../../support/variables.ts';

setVariables({ PROXY_ACCESS_TOKEN: 'optional', PUBLISH_ACCESS_TOKEN: 'required' });

/** An operation that needs nothing but the boundary. */
const contract = {
  name: 'echo',
  method: 'POST',
  path: '/echo/{place}',
  summary: 'Echo',
  description: 'Echoes.',
  access: 'anyone' as Access,
  parameters: z.object({ place: z.string().check(z.maxLength(5)) }),
  body: z.object({ text: z._default(z.string(), 'nothing'), times: z.optional(z.int()) }),
  reply: z.unknown(),
  status: 201,
  errors: [],
} as const satisfies Contract;

type Call = Parameters<Parameters<typeof endpoint<Contract>>[1]>[0];
type Handler = (call: Call) => Promise<{ body: unknown; headers?: Record<string, string> | undefined }>;

const echo: Handler = async ({ path, body, caller }) => ({ body: { path, body, caller } });

function open(changes: Partial<Contract> = {}, handle: Handler = echo) {
  const opened = { ...contract, ...changes };
  const repeatable = (call: Call) => ({ reply: () => handle(call), refresh: async (kept: unknown) => kept });
  const isKeyed = opened.idempotent || typeof opened.access === 'object';
  const handler = isKeyed ? keyedEndpoint<Contract>(opened, repeatable) : endpoint(opened, handle);
  const call = ({ headers, ...rest }: Changes = {}): Promise<Result> =>
    invoke(handler, 'relight-image', {
      path: { place: 'here' },
      body: {},
      headers: { authorization: undefined, ...headers },
      ...rest,
    });
  return { handler, call };
}

const coldStarts: boolean[] = [];

beforeAll(async () => {
  for (let count = 0; count < 3; count += 1) await open().call();
  coldStarts.push(...lines().map(({ cold_start }) => cold_start));
});

describe('the caller of an endpoint', () => {
  const olga = { authorization: bearer('olga') };
  const bad = { authorization: 'Bearer a.b.c' };
  const basic = { authorization: 'Basic b2xnYTo=' };
  const proxy = { userUnless: 'PROXY_ACCESS_TOKEN' } as const;
  const publish = { userUnless: 'PUBLISH_ACCESS_TOKEN' } as const;

  test.each<[Access, Record<string, string>, number, string | undefined]>([
    ['anyone', {}, 201, undefined],
    ['anyone', olga, 201, undefined],
    ['anyone', bad, 201, undefined],
    ['user', {}, 401, undefined],
    ['user', olga, 201, 'olga'],
    ['user', bad, 401, undefined],
    [proxy, {}, 201, undefined],
    [proxy, olga, 201, 'olga'],
    [proxy, bad, 401, undefined],
    [proxy, basic, 401, undefined],
    [publish, {}, 401, undefined],
    [publish, olga, 201, 'olga'],
    [publish, bad, 401, undefined],
  ])(
    'identifies or rejects the caller of an operation with access %j (%#)',
    async (access, headers, status, user) => {
      const answer = await open({ access }).call({ headers });

      expect(answer.status).toBe(status);
      expect(answer.body.caller?.userId).toBe(user);
      const invalid = (why: string) => `Bearer error="invalid_token", error_description="${why}"`;
      const scheme = invalid('The Authorization header has another scheme than Bearer');
      const malformed = invalid('The access token is malformed');
      const challenge = headers === bad ? malformed : headers === basic ? scheme : 'Bearer';
      expect(answer.headers['www-authenticate']).toBe(status === 401 ? challenge : undefined);
    },
  );

  const optional = { userUnless: 'PROXY_ACCESS_TOKEN', bodyToken: 'text' } as const;

  test.each<[string, Access, string, number]>([
    ['takes', optional, 'nrp_sent-twice', 201],
    ['rejects another bearer than', optional, 'nrp_another', 401],
    ['rejects, where a bearer is required,', { ...publish, bodyToken: 'text' }, 'nrp_sent-twice', 401],
  ])('%s a personal access token that is also sent as the bearer', async (_, access, token, status) => {
    const headers = { authorization: `Bearer ${token}` };

    expect((await open({ access }).call({ headers, body: { text: 'nrp_sent-twice' } })).status).toBe(status);
  });

  test.each([
    [{}, 201],
    [{ text: 5 }, 400],
    [{ text: 'nrp_a.b' }, 201],
    [{ text: 'a.b.c' }, 401],
  ])('is a CI job only if the body has an ID token as text: %j answers %i', async (body, status) => {
    expect((await open({ access: optional }).call({ body })).status).toBe(status);
  });

  test('rejects a caller for the bearer before the body is read', async () => {
    const { status } = await open({ access: optional }).call({ headers: bad, rawBody: '{' });

    expect(status).toBe(401);
  });

  test.each([
    ['malformed', 401, bad, 60_001, 60_001],
    ['malformed', 401, bad, -60_001, -60_001],
    ['malformed', 401, bad, 60_000, undefined],
    ['missing', 401, {}, 60_000, undefined],
    [undefined, 201, olga, 60_001, undefined],
  ])(
    'logs with the reason %s and the status %i, %j, how far a clock that is %i ms ahead is: %s',
    async (reason, status, headers, aheadMs, clock_ahead_ms) => {
      stopDate();
      const { handler } = open({ access: 'user', parameters: z.object({}) });
      const event = { ...sampleEvent('relight-image'), headers };
      event.requestContext.timeEpoch = Date.now() - aheadMs;
      await handler(event, {} as Context);

      const logged = lines().map((line) => [line.reason, line.status, line.clock_ahead_ms]);
      expect(logged).toEqual([[reason, status, clock_ahead_ms]]);
    },
  );
});

describe('the request to an endpoint', () => {
  test.each([
    ['128 characters', 'x'.repeat(128), true],
    ['the allowed characters', 'a.B_9-z', true],
    ['one character more', 'x'.repeat(129), false],
    ['other characters', 'a b', false],
    ['a blank before it', ' ab', false],
    ['a line end after it', 'ab\n', false],
    ['nothing', '', false],
  ])('keeps or replaces the request id of its caller: %s', async (_, given, isKept) => {
    const { headers, body } = await open().call({ rawBody: 'no json', headers: { 'x-request-id': given } });
    const expected = isKept ? given : 'sample-relight-image';

    expect([headers['x-request-id'], body.request_id]).toEqual([expected, expected]);
  });

  test('rejects a request with all issues of its path and its body, before the handler runs', async () => {
    const { call } = open({}, () => Promise.reject(new Error('The handler ran.')));
    const { status, body } = await call({ path: { place: 'nowhere' }, body: { text: 1, times: 0.5 } });

    expect(status).toBe(400);
    expect(body).toEqual({
      error: 'invalid_request',
      message: 'The request is not valid.',
      request_id: 'sample-relight-image',
      details: [
        { path: 'path.place', message: 'must have at most 5 characters' },
        { path: 'body.text', message: 'must be text' },
        { path: 'body.times', message: 'must be a whole number' },
      ],
    });
  });
});

test.each<[string, string, object, number]>([
  [
    'rejects a query of a path whose last parameter takes the rest',
    '/a/{place+}',
    { rawQueryString: 'a=1' },
    400,
  ],
  ['rejects an empty query of such a path', '/a/{place+}', { rawPath: '/a?' }, 400],
  ['ignores the query of another path', '/a/{place}', { rawQueryString: 'a=1', rawPath: '/a?' }, 201],
])('an endpoint %s', async (_, path, changes, expected) => {
  const event = { ...sampleEvent('relight-image'), ...changes };
  const { handler } = open({ path, parameters: z.object({}) });
  const { statusCode, body } = await handler(event, {} as Context);

  expect([statusCode, JSON.parse(body).details?.[0].path]).toEqual([
    expected,
    expected === 400 ? 'query' : undefined,
  ]);
});

describe('the deadline of an endpoint', () => {
  test.each([
    ['what is left of the invocation', { getRemainingTimeInMillis: () => 9000 }, 9000],
    ['29 seconds without a context', {}, 29_000],
  ])('ends a handler a second before %s', async (_, context, limitMs) => {
    jest.useFakeTimers();
    const deadlines: number[] = [];
    const { handler } = open({ parameters: z.object({}) }, async ({ context }) => {
      deadlines.push(context.deadline - Date.now());
      return { body: {} };
    });
    await handler(sampleEvent('relight-image'), context as Context);

    expect(deadlines).toEqual([limitMs - 1000]);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('leaves 400 ms to answer when a handler hangs, and logs the calls that did not answer', async () => {
    jest.useFakeTimers();
    const never = () => new Promise<never>(() => {});
    const { call } = open({}, async ({ context }) => {
      await calling(context, 'the first', async () => {});
      await calling(context, 'the second', () => Promise.reject(new Error('rejected'))).catch(() => {});
      void calling(context, 'the third', never);
      await new Promise((resolve) => setTimeout(resolve, 100));
      return calling(context, 'the fourth', never);
    });
    const { result, ms } = await timed(call({ remainingMs: 900 }));

    expect([result?.status, result?.body.error]).toEqual([503, 'unavailable']);
    expect(ms).toBe(500);
    expect(lines()[0].reason).toBe('waiting: the third for 500 ms, the fourth for 400 ms');
  });
});

describe('an Idempotency-Key', () => {
  const olga = bearer('olga');
  const proxy = { access: { userUnless: 'PROXY_ACCESS_TOKEN' } } as const;

  /** An operation that counts the runs of its handler; a call returns the count, and the answer's status or code. */
  function counted(changes: Partial<Contract> = {}) {
    let runs = 0;
    const { call } = open({ idempotent: true, ...changes }, async () => {
      runs += 1;
      return { body: { a: 1 } };
    });
    return async (key: string, authorization?: string, rest: Changes = {}) => {
      const sent = { 'idempotency-key': key, authorization };
      const { status, headers, body } = await call({ ...rest, headers: sent });
      return [runs, body.error ?? status, headers['idempotent-replayed'], body.a];
    };
  }

  test('belongs to its caller, or to the token in the body, or to all callers without a token', async () => {
    const key = randomUUID();
    const body = (text: string) => ({ body: { text } });
    const byBody = counted({ access: { ...proxy.access, bodyToken: 'text' } });
    const byNobody = counted(proxy);

    const calls = [
      [byBody, olga, 'a', 1, 201],
      [byBody, bearer('mats'), 'a', 2, 201],
      [byBody, undefined, 'a', 3, 201],
      [byBody, undefined, 'b', 4, 201],
      [byBody, olga, 'b', 4, 'idempotency_mismatch'],
      [byNobody, undefined, 'a', 1, 201],
      [byNobody, undefined, 'b', 1, 'idempotency_mismatch'],
      [byNobody, bearer('anonymous'), 'b', 2, 201],
    ] as const;
    for (const [ask, authorization, text, ...expected] of calls)
      expect((await ask(key, authorization, body(text))).slice(0, 2)).toEqual(expected);
  });

  test('is free again after a request that failed', async () => {
    const failures = [new ApiError('conflict'), new Error('broken')];
    const { call } = open({ idempotent: true }, async () => {
      const failure = failures.shift();
      if (failure) throw failure;
      return { body: {} };
    });
    const headers = { 'idempotency-key': randomUUID() };
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await call({ headers })).status);

    expect(statuses).toEqual([409, 500, 201]);
  });

  test('belongs to one operation, one path and one body', async () => {
    const key = randomUUID();
    const ask = counted();
    const other = counted({ name: 'other' });
    const mismatch = [1, 'idempotency_mismatch', undefined, undefined];

    expect(await ask(key)).toEqual([1, 201, undefined, 1]);
    expect(await ask(key, undefined, { path: { place: 'there' } })).toEqual(mismatch);
    expect(await ask(key, undefined, { body: { text: 'x' } })).toEqual(mismatch);
    expect(await other(key)).toEqual([0, ...mismatch.slice(1)]);
    expect(await ask(key)).toEqual([1, 201, 'true', 1]);
  });
});

describe('the log line of a request', () => {
  test('contains the operation, the status and the time, and a cold start once', async () => {
    let time = 7000;
    jest.spyOn(performance, 'now').mockImplementation(() => time);
    await open({}, async () => {
      time += 30;
      return { body: {} };
    }).call();

    const [line] = lines();
    expect(line).toEqual({
      level: 'info',
      event: 'request',
      request_id: 'sample-relight-image',
      function_request_id: 'an-invocation',
      place: 'here',
      function: 'echo',
      route: sampleEvent('relight-image').routeKey,
      cold_start: false,
      status: 201,
      ms: 30,
    });
    expect(coldStarts).toEqual([true, false, false]);
  });
});
