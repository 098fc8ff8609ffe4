import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { dynamodb } from '../../../lib/store/table.ts';
import type { Misbehavior } from '../../../tools/simulators/misbehaviors.ts';
import { intercept } from '../../support/intercept.ts';
import { invoke, type Result } from '../../support/invoke.ts';
import { acceptedTasks, misbehave, outwaitProvider, proxies, simulation } from '../../support/proxies.ts';

const call = (key: string): Promise<Result> =>
  invoke(proxies['text-to-video'], 'text-to-video', { headers: { 'idempotency-key': key } });

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

/** Replies that are not complete within the remaining time. */
const silences: Misbehavior[] = [
  { kind: 'stall' },
  { kind: 'stall', stage: 'after_headers' },
  { kind: 'delay', ms: 600_000 },
  { kind: 'trickle', ms: 500, bytes: 1 },
];

/** After a rejection the same key may be used again, and then buys its one task. */
const refusals: Misbehavior[] = [
  ...[400, 401, 402, 403, 404, 409, 422, 429].map((status) => ({ kind: 'status', status }) as const),
  { kind: 'status', status: 400, reason: 'CreditInsufficient' },
  { kind: 'status', status: 503, retryAfter: 60 },
];

/** Ten requests that follow concurrent ones with their key all get this answer. */
async function requireOneAnswer(later: string, key: string, concurrent: readonly Result[]): Promise<void> {
  const afterwards = await oneAfterAnother(10, () => call(key));

  // One that comes after the first has ended is answered as the later ones.
  const first = concurrent.filter(
    ({ body, headers }) => !/^idempotency_/.test(body.error) && headers['idempotent-replayed'] === undefined,
  );
  expect(first).toHaveLength(1);
  for (const { status, body, text, headers } of afterwards) {
    expect([status, body.error].join(' ').trim()).toBe(later);
    if (!later.startsWith('409')) expect(text).toBe(first[0]?.text);
    expect(headers['idempotent-replayed']).toBe(later.startsWith('409') ? undefined : 'true');
  }
}

describe('a paid request with an Idempotency-Key', () => {
  test.each(misbehaviors)(
    'starts at most one task over ten concurrent and ten later requests, with %j',
    async (misbehavior, later) => {
      if (misbehavior) misbehave(misbehavior);
      const key = randomUUID();
      await requireOneAnswer(later, key, await times(10, () => call(key)));

      expect(acceptedTasks()).toBeLessThanOrEqual(1);
    },
  );

  test('starts at most one task over as many requests for each provider that stays silent', async () => {
    for (const silence of silences) misbehave(silence);
    const keys = silences.map(() => randomUUID());
    let ended = 0;
    const end = () => {
      ended += 1;
    };
    const answers = await outwaitProvider(
      () => Promise.all(keys.map((key) => times(10, () => call(key).finally(end)))),
      () => simulation.received.length === keys.length && ended === 9 * keys.length,
    );
    for (const [place, key] of keys.entries())
      await requireOneAnswer('409 idempotency_consumed', key, answers[place] ?? []);

    expect(simulation.received).toHaveLength(silences.length);
  });

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

// Each call that fails by itself: tests/lib/spend/lost-writes.test.ts.
test('sends nothing if a record that must precede it cannot be stored', async () => {
  // A caller's first request makes its account.
  await call(randomUUID());
  for (const at of [1, 2, 3, 4]) {
    const seen: string[] = [];
    const repair = intercept(dynamodb, ({ input, send }) => {
      const text = JSON.stringify(input);
      if (!seen.includes(text)) seen.push(text);
      if (seen.indexOf(text) !== at - 1) return send();
      throw Object.assign(new Error('the store is gone'), { name: 'TimeoutError' });
    });
    const { status, body, headers } = await call(randomUUID());
    repair();

    expect([status, body.error, headers]).toEqual([
      ...[503, 'unavailable'],
      expect.objectContaining({ 'retry-after': expect.stringMatching(/^\d+$/) }),
    ]);
  }
  expect(acceptedTasks()).toBe(1);
});
