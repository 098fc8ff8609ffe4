import { AsyncLocalStorage } from 'node:async_hooks';
import { s3 } from '../../lib/bucket/bucket.ts';
import { dynamodb } from '../../lib/store/table.ts';

/**
 * `before`: the request never left. `after`: it was carried out, and its answer was lost. `kill`: neither this call nor any other of the same invocation gets through.
 */
type FaultKind = 'before' | 'after' | 'kill';

interface Fault {
  /** Strikes at this call, counted over DynamoDB and S3 together. */
  at: number;
  kind: FaultKind;
}

interface Plan {
  fault: Fault;
  calls: number;
  isKilled: boolean;
}

/** Of each story its own, so that stories can be told at once. */
const plans = new AsyncLocalStorage<Plan>();

/** Lets one fault strike in the story, and says whether it did; the SDKs' own retries do not get over it. */
export async function withFault(fault: Fault, story: () => Promise<void>): Promise<boolean> {
  const plan = { fault, calls: 0, isKilled: false };
  await plans.run(plan, story);
  return plan.calls >= fault.at;
}

/** The next invocation is another process. */
export function revive(): void {
  const plan = plans.getStore();
  if (plan) plan.isKilled = false;
}

/** A call over the wire: the SDKs' own, or one that goes past them, such as a PUT to a signed URL. */
export async function overTheWire<T>(call: () => Promise<T>): Promise<T> {
  const plan = plans.getStore();
  if (!plan) return call();
  const { at, kind } = plan.fault;
  plan.calls += 1;
  const strikes = at === plan.calls;
  if (strikes && kind === 'kill') plan.isKilled = true;
  if (plan.isKilled || (strikes && kind === 'before')) throw new LostConnection('The connection was lost.');
  const answer = await call();
  if (strikes) throw new LostConnection('The connection was lost.');
  return answer;
}

const options = { step: 'initialize', name: 'planned-fault' } as const;
dynamodb.middlewareStack.add((next) => (args) => overTheWire(() => next(args)), options);
s3.middlewareStack.add((next) => (args) => overTheWire(() => next(args)), options);

export class LostConnection extends Error {
  override readonly name = 'TimeoutError';
}
