import assert from 'node:assert/strict';
import { expect, test } from '@jest/globals';
import type { Misbehavior } from '../../tools/simulators/misbehaviors.ts';
import { seed } from '../support/demo-registry.ts';
import { readApiDocument } from '../support/api-document.ts';
import { call } from '../support/endpoints.ts';
import { readLog, verifierOf } from '../support/log-reader.ts';
import { fc } from '@node-registry/testing/properties';
import { check, count, counts } from '@node-registry/testing/property-runs';
import { proxyNames, simulation } from '../support/proxies.ts';
import { planOf, strikesIn, underPlan } from '../support/wire-faults.ts';

const attempts = 3;

/** Long enough for an answer, short enough for a provider that never answers. */
const remainingMs = 2100;

const quick: readonly Misbehavior[] = [
  { kind: 'reset' },
  { kind: 'reset', accepted: false },
  { kind: 'reset', stage: 'after_headers' },
  { kind: 'truncated' },
  { kind: 'html' },
  { kind: 'oversize' },
  { kind: 'redirect' },
  { kind: 'delay', ms: 30 },
  { kind: 'numeric_ids' },
  { kind: 'text', text: '{"data":{"task_id":"\\ud800"},"task_id":{},"credits":1e400}' },
  { kind: 'reply', without: ['task_id'] },
  { kind: 'reply', fields: { task_id: null, credits: 'many', state: 'other', created_at: 5 } },
  { kind: 'status', status: 429, retryAfter: 0 },
  // A provider may repeat what it was sent, including our key.
  { kind: 'status', status: 400, provider: 'image', message: `bad key ${process.env.IMAGE_PROVIDER_KEY}` },
  { kind: 'status', status: 400, provider: 'video', message: `bad key ${process.env.VIDEO_PROVIDER_KEY}` },
  ...[204, 401, 402, 404, 418, 500, 502, 503].map((status) => ({ kind: 'status', status }) as const),
  { kind: 'status', status: 500, accepted: true },
];
const slow: readonly Misbehavior[] = [{ kind: 'stall' }, { kind: 'stall', stage: 'after_headers' }];

const attempt = fc.record({
  misbehavior: fc.oneof(
    { weight: 20, arbitrary: fc.constant(undefined) },
    { weight: 40, arbitrary: fc.constantFrom(...quick) },
    { weight: 1, arbitrary: fc.constantFrom(...slow) },
  ),
  strikes: fc.oneof(fc.constant([]), strikesIn(4)),
});

test('starts no second task for a client that repeats one paid request with one key', async () => {
  await seed();
  const log = readLog();
  const verify = verifierOf(await readApiDocument(), log);
  let number = 0;
  const values = fc.record({
    operation: fc.constantFrom(...proxyNames),
    tries: fc.array(attempt, { minLength: 1, maxLength: attempts, size: 'max' }),
  });
  await check(
    values,
    async ({ operation, tries }) => {
      number += 1;
      simulation.reset();
      const headers = { 'idempotency-key': `paid-${number}` };
      const answers = new Set<string>();
      for (const { misbehavior, strikes } of tries) {
        if (misbehavior) simulation.misbehave(misbehavior);
        const plan = planOf(strikes);
        const answer = await underPlan(plan, () => call(operation, { headers, remainingMs }));
        verify(operation, answer, plan);
        if (answer.status === 200) answers.add(answer.text);
      }
      const accepted = simulation.received.filter(({ taskId }) => taskId !== undefined).length;
      count(`tasks: ${accepted}`);
      assert.ok(accepted <= 1, 'paid for twice');
      assert.ok(answers.size <= 1, `two answers to one request: ${[...answers]}`);
    },
    { weight: 2 },
  );

  expect(counts['tasks: 1']).toBeGreaterThan(0);
  expect(log.leaks).toEqual([]);
});
