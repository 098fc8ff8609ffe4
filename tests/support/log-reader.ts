import assert from 'node:assert/strict';
import { count } from '@node-registry/testing/property-runs';
import { demo } from '../../tools/local/demo.ts';
import type { ApiDocument } from './api-document.ts';
import type { Result } from './invoke.ts';
import type { FaultPlan } from './wire-faults.ts';

/** Texts that no log line and no answer may contain. */
const { IMAGE_PROVIDER_KEY, VIDEO_PROVIDER_KEY } = process.env;
const secrets = [demo.personalAccessToken, IMAGE_PROVIDER_KEY, VIDEO_PROVIDER_KEY].map(String);

interface LogReader {
  lastLine: string;
  /** The lines with a secret. */
  leaks: string[];
}

/** Reads what the functions log in this process, from now on. Callers may have secrets of their own. */
export function readLog(...ofCallers: string[]): LogReader {
  const reader: LogReader = { lastLine: '', leaks: [] };
  const write = (line: string) => {
    reader.lastLine = line;
    if (/Bearer ey/.test(line) || [...secrets, ...ofCallers].some((secret) => line.includes(secret)))
      reader.leaks.push(line);
    return true;
  };
  Object.defineProperty(process, 'stdout', { value: { write }, configurable: true });
  return reader;
}

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
    for (const secret of secrets) assert.ok(!answer.text.includes(secret), 'an answer shows a secret');
  };
}
