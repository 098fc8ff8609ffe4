import assert from 'node:assert/strict';
import type { ApiDocument } from './api-document.ts';
import type { Result } from './invoke.ts';
import type { LogReader } from './log-reader.ts';
import { count } from 'testing/property-runs';
import type { FaultPlan } from './wire-faults.ts';

/** Throws if an answer is wrong for any request, given the faults that were injected. */
export type VerifyAnswer = (operation: string, answer: Result, plan: FaultPlan) => void;

/** Checks a response if some call to a store may have failed: it is documented, and shows no secret. */
export function verifierOf(document: ApiDocument, log: LogReader): VerifyAnswer {
  return (operation, answer, plan) => {
    for (const kind of plan.struck) count(`faults: ${kind}`);
    document.verify(operation, answer);
    // Only an unreadable answer of a store may become an unknown error.
    const isExplained = answer.status !== 500 || plan.struck.includes('garbage');
    assert.ok(isExplained, `a fault of a store became a 500: ${plan.struck} ${log.lastLine}`);
    for (const secret of log.secrets) assert.ok(!answer.text.includes(secret), 'an answer shows a secret');
  };
}
