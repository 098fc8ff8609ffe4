import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { dynamodb } from '../../../lib/store/table.ts';
import type { Misbehavior } from '../../../tools/simulators/misbehaviors.ts';
import { invoke, type Result } from '../../support/invoke.ts';
import { acceptedTasks, misbehave, proxies } from '../../support/proxies.ts';

const call = (key: string): Promise<Result> =>
  invoke(proxies['text-to-video'], 'text-to-video', {
    headers: { 'idempotency-key': key },
    // A silent provider costs each test this time, of which a busy machine needs half a second before sending.
    remainingMs: 3500,
  });

const times = <T>(count: number, work: () => Promise<T>) => Promise.all(Array.from({ length: count }, work));

async function oneAfterAnother<T>(count: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  while (results.length < count) results.push(await work());
  return results;
}

/** The provider misbehaves at the first request only, so a second send would buy a second task. */
const misbehaviors: [Misbehavior | undefined, string][] = [
  [undefined, '200'],
  [{ kind: 'reset' }, '409 idempotency_consumed'],
  [{ kind: 'stall' }, '409 idempotency_consumed'],
  [{ kind: 'stall', stage: 'after_headers' }, '409 idempotency_consumed'],
  [{ kind: 'delay', ms: 4000 }, '409 idempotency_consumed'],
  [{ kind: 'trickle', ms: 500, bytes: 1 }, '409 idempotency_consumed'],
  [{ kind: 'reset', stage: 'after_headers' }, '409 idempotency_consumed'],
  [{ kind: 'truncated' }, '409 idempotency_consumed'],
  [{ kind: 'html' }, '409 idempotency_consumed'],
  [{ kind: 'oversize' }, '409 idempotency_consumed'],
  [{ kind: 'redirect' }, '409 idempotency_consumed'],
  [{ kind: 'reply', without: ['task_id'] }, '409 idempotency_consumed'],
  [{ kind: 'status', status: 500, accepted: true }, '409 idempotency_consumed'],
  [{ kind: 'status', status: 503, accepted: true }, '409 idempotency_consumed'],
  [{ kind: 'status', status: 504, accepted: true }, '409 idempotency_consumed'],
  [{ kind: 'reply', fields: { state: 'pending', credits: 'many' } }, '200'],
  [{ kind: 'empty_echoes' }, '200'],
  [{ kind: 'numeric_ids' }, '200'],
];

/** After a rejection the same key may be used again, and then buys its one task. */
const refusals: Misbehavior[] = [
  ...[400, 401, 402, 403, 404, 409, 422, 429].map((status) => ({ kind: 'status', status }) as const),
  { kind: 'status', status: 400, reason: 'CreditInsufficient' },
  { kind: 'status', status: 503, retryAfter: 60 },
];

describe('a paid request with an Idempotency-Key', () => {
  test.each(misbehaviors)(
    'starts at most one task over ten concurrent and ten later requests, with %j',
    async (misbehavior, later) => {
      const key = randomUUID();
      if (misbehavior) misbehave(misbehavior);
      const concurrent = await times(10, () => call(key));
      const afterwards = await oneAfterAnother(10, () => call(key));

      // One that comes after the first has ended is answered as the later ones.
      const first = concurrent.filter(
        ({ body, headers }) =>
          !/^idempotency_/.test(body.error) && headers['idempotent-replayed'] === undefined,
      );
      expect(acceptedTasks()).toBeLessThanOrEqual(1);
      expect(first).toHaveLength(1);
      for (const { status, body, text, headers } of afterwards) {
        expect([status, body.error].join(' ').trim()).toBe(later);
        if (!later.startsWith('409')) expect(text).toBe(first[0]?.text);
        expect(headers['idempotent-replayed']).toBe(later.startsWith('409') ? undefined : 'true');
      }
    },
  );

  test.each(refusals)('runs again after a rejection, and then once, with %j', async (refusal) => {
    const key = randomUUID();
    misbehave(refusal);
    const rejected = await call(key);
    const afterwards = await oneAfterAnother(10, () => call(key));

    expect(rejected.status).toBeGreaterThanOrEqual(400);
    expect(new Set(afterwards.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(afterwards.map(({ text }) => text)).size).toBe(1);
    expect(acceptedTasks()).toBe(1);
  });
});

type Fault = 'before' | 'after' | 'crash';

let storeCalls = 0;

/**
 * Makes the store fail at one of its calls, also when that is sent again: before the write, after it, or there and at
 * every later call, as if the invocation had died.
 */
function failStore(at: number, fault: Fault): void {
  storeCalls = 0;
  const seen: string[] = [];
  dynamodb.middlewareStack.add(
    (next) => async (args) => {
      const input = JSON.stringify(args.input);
      if (!seen.includes(input)) seen.push(input);
      storeCalls = seen.length;
      const place = seen.indexOf(input) + 1;
      const strikes = place === at || (fault === 'crash' && place > at);
      if (!strikes) return next(args);
      if (fault === 'after' || (fault === 'crash' && place === at)) await next(args);
      throw Object.assign(new Error('the store is gone'), { name: 'TimeoutError' });
    },
    { step: 'initialize', name: 'fault' },
  );
}

function repairStore(): void {
  dynamodb.middlewareStack.remove('fault');
}

afterEach(repairStore);

describe('a paid request while the store fails', () => {
  const treatments: (Misbehavior | undefined)[] = [
    undefined,
    { kind: 'reset' },
    { kind: 'truncated' },
    { kind: 'status', status: 500, accepted: true },
    { kind: 'status', status: 429 },
  ];
  const faults: Fault[] = ['before', 'after', 'crash'];
  const maxSteps = 9;

  test.each(faults.flatMap((fault) => treatments.map((treatment) => [fault, treatment] as const)))(
    'starts at most one task, failing %s any step, with %j',
    async (fault, treatment) => {
      let steps = 0;
      for (let at = 1; at <= maxSteps; at += 1) {
        const key = randomUUID();
        const before = acceptedTasks();
        if (treatment) misbehave(treatment);
        failStore(at, fault);
        const during = await call(key);
        if (storeCalls >= at) steps = at;
        repairStore();
        const afterwards = [
          ...(await times(10, () => call(key))),
          ...(await oneAfterAnother(3, () => call(key))),
        ];

        const answered = [during, ...afterwards].filter(({ status }) => status === 200);
        expect(acceptedTasks() - before).toBeLessThanOrEqual(1);
        expect(new Set(answered.map(({ body }) => body.task_id)).size).toBeLessThanOrEqual(1);
      }
      expect(steps).toBeGreaterThanOrEqual(3);
      expect(steps).toBeLessThan(maxSteps);
    },
  );

  test('sends nothing if a record that must precede it cannot be stored', async () => {
    for (const at of [1, 2, 3, 4]) {
      failStore(at, 'before');
      const { status, body, headers } = await call(randomUUID());
      repairStore();

      expect([status, body.error, headers['retry-after']]).toEqual([503, 'unavailable', '1']);
    }
    expect(acceptedTasks()).toBe(0);
  });

  test('gets its answer even if the answer cannot be stored, and is never sent again', async () => {
    const key = randomUUID();
    failStore(5, 'before');
    const first = await call(key);
    repairStore();
    const again = await call(key);

    expect(first.status).toBe(200);
    expect(again.status).toBe(409);
    expect(acceptedTasks()).toBe(1);
  });
});
