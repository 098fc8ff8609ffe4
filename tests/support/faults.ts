import { s3 } from '../../lib/artifacts/bucket.ts';
import { dynamodb } from '../../lib/registry/table.ts';

/**
 * `before`: the request never left. `after`: it was carried out, and its answer was lost. `kill`: neither this call nor any other of the same invocation gets through.
 */
type FaultKind = 'before' | 'after' | 'kill';

interface Fault {
  /** Strikes at this call, counted over DynamoDB and S3 together. */
  at: number;
  kind: FaultKind;
}

let fault: Fault | undefined;
let calls = 0;
let isKilled = false;

/** Lets one fault strike in what follows; the SDKs' own retries do not get over it. */
export function planFault(planned: Fault | undefined): void {
  fault = planned;
  calls = 0;
  isKilled = false;
}

/** Whether the planned fault has struck. */
export function hasStruck(): boolean {
  return fault !== undefined && calls >= fault.at;
}

/** The next invocation is another process. */
export function revive(): void {
  isKilled = false;
}

/** For calls that go past the SDKs, such as a PUT to a signed URL. */
export async function withFault<T>(call: () => Promise<T>): Promise<T> {
  calls += 1;
  const strikes = fault?.at === calls;
  if (strikes && fault?.kind === 'kill') isKilled = true;
  if (isKilled || (strikes && fault?.kind === 'before')) throw new LostConnection('The connection was lost.');
  const answer = await call();
  if (strikes) throw new LostConnection('The connection was lost.');
  return answer;
}

const options = { step: 'initialize', name: 'planned-fault' } as const;
dynamodb.middlewareStack.add((next) => (args) => withFault(() => next(args)), options);
s3.middlewareStack.add((next) => (args) => withFault(() => next(args)), options);

export class LostConnection extends Error {
  override readonly name = 'TimeoutError';
}
