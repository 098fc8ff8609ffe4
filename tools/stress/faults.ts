import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readApiDocument } from './api-document.ts';
import { type CheckOptions, CheckRun } from './check.ts';
import { type Scene, scenarios } from './fault-scenarios.ts';
import { seed } from './fixtures.ts';
import type { HarnessAnswer } from './harness.ts';
import { readLog } from './log-reader.ts';
import { checkPaidFaults } from './paid-faults.ts';
import { Registry } from './registry.ts';
import type { Report } from './report.ts';
import { type FaultPlan, faultKinds, injectFaults, type Strike } from './wire-faults.ts';

const runs = { short: 25, usual: 1000, long: 3000 };
const callsOfFinalizer = 12;

/** Throws if an answer is wrong for any request, given the faults that were injected. */
export type VerifyAnswer = (operation: string, answer: HarnessAnswer, plan: FaultPlan) => void;

/** The faults of one invocation that makes about this many calls. */
export function strikesIn(calls: number): fc.Arbitrary<Strike[]> {
  const strike = fc.record({
    at: fc.integer({ min: 1, max: calls }),
    kind: fc.constantFrom(...faultKinds),
    lasts: fc.nat(2).map((draw) => draw === 2),
  });
  return fc.array(strike, { minLength: 1, maxLength: 3 });
}

/**
 * When any call from the functions to a store or provider fails, nothing is half written, no success is lost, nothing
 * is paid for twice, nothing gets stuck, and no secret leaks.
 */
export async function checkFaults(options: CheckOptions): Promise<Report> {
  const run = new CheckRun(options);
  const { harness, length } = options;
  await seed();
  const document = await readApiDocument(harness);
  const log = readLog();
  const faults = await injectFaults();
  const verify: VerifyAnswer = (operation, answer, plan) => {
    run.report.count(`answers ${answer.status} ${answer.body.error ?? ''}`.trim());
    for (const kind of plan.struck) run.report.count(`faults: ${kind}`);
    document.verify(operation, answer);
    // Only an unreadable answer of a store may become an unknown error.
    const isExplained = answer.status !== 500 || plan.struck.includes('garbage');
    assert.ok(isExplained, `a fault of a store became a 500: ${plan.struck} ${log.lastLine}`);
    for (const secret of log.secrets) assert.ok(!answer.text.includes(secret), 'an answer shows a secret');
  };
  try {
    const registry = new Registry(harness);
    // Scenarios mostly wait for retries, so they run concurrently, each on its own nodes.
    await Promise.all(
      Object.entries(scenarios).map(([name, { calls, run: scenario }]) => {
        let number = 0;
        return run.property({
          name: `faults/${name}`,
          runs: runs[length],
          values: fc.record({
            // Each invocation of the scenario gets the next of these plans, and the last ones get none.
            plans: fc.array(strikesIn(calls), { minLength: 1, maxLength: 8, size: 'max' }),
            eventPlans: fc.array(strikesIn(callsOfFinalizer), { maxLength: 6, size: 'max' }),
            isBad: fc.nat(7).map((draw) => draw === 7),
            event: fc.constantFrom('prompt', 'doubled', 'late', 'lost'),
          }),
          holds: ({ plans, eventPlans, isBad, event }) => {
            number += 1;
            const scene: Scene = {
              registry,
              nodeId: `${name}-${number}`,
              plans: [...plans],
              eventPlans: [...eventPlans],
              isBad,
              event,
              verify,
            };
            run.report.count(`events: ${event}`);
            return scenario(scene);
          },
        });
      }),
    );
    await checkPaidFaults(run, verify);
  } finally {
    faults.stop();
    log.stop();
  }
  run.report.count('log lines without a secret', log.count);
  for (const line of log.leaks) run.report.violate('the log shows a secret', line);
  return run.report;
}
