import type { Misbehavior } from '../simulators/misbehaviors.ts';
import type { ArenaAnswer } from './arena.ts';
import type { HuntOptions, Tally } from './hunt.ts';
import type { SeededRandom } from './seeded-random.ts';
import { drawPlan, type FaultPlan, underPlan } from './wire-faults.ts';

const runs = { short: 40, usual: 1000, long: 3000 };
const operations = ['relight-image', 'text-to-video', 'extend-video', 'multiframe-video'] as const;

/** Long enough for an answer, short enough for a provider that never answers. */
const remainingMs = 2100;
const slackMs = 1000;

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
  { kind: 'empty_echoes' },
  { kind: 'text', text: '{"data":{"task_id":"\\ud800"},"task_id":{},"credits":1e400}' },
  { kind: 'reply', without: ['task_id'] },
  { kind: 'reply', fields: { task_id: null, credits: 'many', state: 'other', created_at: 5 } },
  { kind: 'status', status: 429, retryAfter: 0 },
  // A provider may repeat what it was sent, and that includes our key.
  { kind: 'status', status: 400, provider: 'image', message: `bad key ${process.env.IMAGE_PROVIDER_KEY}` },
  { kind: 'status', status: 400, provider: 'video', message: `bad key ${process.env.VIDEO_PROVIDER_KEY}` },
  ...[204, 401, 402, 404, 418, 500, 502, 503].map((status) => ({ kind: 'status', status }) as const),
  { kind: 'status', status: 500, accepted: true },
];
const slow: readonly Misbehavior[] = [{ kind: 'stall' }, { kind: 'stall', stage: 'after_headers' }];

/** A client that sends one paid request with one key until it knows: there is never a second task. */
export async function huntPaidFaults(
  { arena, random, length }: HuntOptions,
  hear: (operation: string, answer: ArenaAnswer, plan: FaultPlan) => void,
  tally: Tally,
): Promise<void> {
  const { simulation } = arena;
  const prefix = random.below(1_000_000);
  for (let run = 1; run <= runs[length]; run += 1) {
    simulation.reset();
    const operation = random.pick(operations);
    const headers = { 'idempotency-key': `paid-${prefix}-${run}` };
    const answers: ArenaAnswer[] = [];
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      misbehave(random, (misbehavior) => simulation.misbehave(misbehavior));
      const plan = drawPlan(random, 4);
      const began = performance.now();
      const answer = await underPlan(plan, () => arena.call(operation, { headers, remainingMs }));
      const took = performance.now() - began;
      if (took > remainingMs + slackMs)
        tally.violate('an answer after the deadline', operation, took, plan.struck);
      hear(operation, answer, plan);
      answers.push(answer);
    }
    const accepted = simulation.received.filter(({ taskId }) => taskId !== undefined).length;
    const tasks = new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text));
    tally.count('stories: paid request');
    tally.count(`paid requests that started ${accepted} tasks`);
    if (accepted > 1)
      tally.violate(
        'paid for twice',
        run,
        answers.map(({ text }) => text),
      );
    if (tasks.size > 1) tally.violate('two answers to one request', [...tasks]);
  }
}

function misbehave(random: SeededRandom, apply: (misbehavior: Misbehavior) => void): void {
  if (random.isOnceIn(3)) return;
  apply(random.pick(random.isOnceIn(60) ? slow : quick));
}
