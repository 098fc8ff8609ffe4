import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { s3 } from '../../lib/bucket/bucket.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { fc } from '@node-registry/testing/properties';

/**
 * The faults of one call to DynamoDB or S3, below the SDK's own retries: throttled, slow, lost
 * before it arrived or after it was carried out, or answered with something unreadable. `die` ends the
 * invocation: no later call gets through. `late`: the answer is lost, and the store carries the call out only after its
 * caller has gone on.
 */
const faultKinds = ['throttle', 'delay', 'drop before', 'drop after', 'garbage', 'die', 'late'] as const;

/**
 * `meet`: other work runs before the call. `stop`: the process is killed before the call, and nothing of it runs any more,
 * not even a handler of an error.
 */
type FaultKind = (typeof faultKinds)[number] | 'meet' | 'stop';

export interface Strike {
  /** The index of the call, counted over DynamoDB and S3 together. */
  at: number;
  kind: FaultKind;
  /** Also fails the SDK's retries of the call, so that they cannot recover. */
  lasts: boolean;
  /** Other work: before the call that it meets, or after the call whose answer is lost. */
  meanwhile?: () => Promise<void>;
}

/** The faults of one invocation that makes about this many calls. */
export function strikesIn(calls: number): fc.Arbitrary<Strike[]> {
  const strike = fc.record({
    at: fc.integer({ min: 1, max: calls }),
    kind: fc.constantFrom(...faultKinds),
    lasts: fc.nat(2).map((draw) => draw === 2),
  });
  return fc.array(strike, { minLength: 1, maxLength: 3 });
}

/** The faults of one piece of work. Each has its own plan, so that several can run at the same time. */
export interface FaultPlan {
  strikes: readonly Strike[];
  calls: number;
  struck: FaultKind[];
  /** The call of each attempt: a retry of the SDK belongs to the same call. */
  lasting: WeakMap<object, FaultKind>;
  isDead: boolean;
  /** Settles once the process is killed. */
  stopped: PromiseWithResolvers<void>;
  /** Lets a killed process end, when the test has looked at what it left. */
  ended: PromiseWithResolvers<void>;
  /** The commands of its calls, with their input. */
  commands: string[];
}

const plans = new AsyncLocalStorage<FaultPlan | undefined>();
/** The calls that the stores still carry out, although their callers have gone on. */
const late = new Set<Promise<unknown>>();
const maxDelayMs = 60;

export function planOf(strikes: readonly Strike[]): FaultPlan {
  const state = { calls: 0, struck: [], lasting: new WeakMap(), isDead: false, commands: [] };
  return { strikes, ...state, stopped: Promise.withResolvers(), ended: Promise.withResolvers() };
}

/** Applies the plan to the calls that `work` makes, and to no others. */
export function underPlan<Result>(plan: FaultPlan | undefined, work: () => Promise<Result>): Promise<Result> {
  return plans.run(plan, work);
}

// The S3 client would wait up to seconds before a retry, and there are thousands of faults.
const backoff: unknown = Reflect.get(await s3().config.retryStrategy(), 'retryBackoffStrategy');
if (typeof backoff !== 'object' || backoff === null) throw new Error('The SDK has changed how it retries.');
Object.assign(backoff, { computeNextBackoffDelay: () => 1 });

async function strike<Output extends { response: unknown }>(
  call: object,
  next: () => Promise<Output>,
  throttled: () => object,
  input: object = {},
): Promise<Output> {
  const plan = plans.getStore();
  const kind = plan && kindFor(plan, call, input);
  if (!kind) return next();
  const { meanwhile } = plan.strikes.find(({ at }) => at === plan.calls) ?? {};
  switch (kind) {
    case 'meet':
      await meanwhile?.();
      return next();
    case 'stop':
      plan.stopped.resolve();
      await plan.ended.promise;
      throw new Error('The process was killed.');
    case 'throttle':
      return { response: throttled() } as Output;
    case 'delay':
      await pause(1 + ((plan.calls * 17) % maxDelayMs));
      return next();
    case 'drop after':
      await discarded(next);
      await meanwhile?.();
      throw lostConnection();
    case 'late':
      callLate(20 + ((plan.calls * 17) % maxDelayMs), next);
      throw lostConnection();
    case 'garbage':
      return { ...(await discarded(next)), response: answer(200, '<html>Have a nice day</html>') };
    case 'drop before':
    case 'die':
      throw lostConnection();
  }
}

function callLate(waitMs: number, next: () => Promise<{ response: unknown }>): void {
  const call = pause(waitMs)
    .then(() => discarded(next))
    .catch(() => {})
    .finally(() => late.delete(call));
  late.add(call);
}

/** Resolves when the stores have carried out all that is late. */
export async function lateCalls(): Promise<void> {
  await Promise.all(late);
}

function kindFor(plan: FaultPlan, call: object, input: object): FaultKind | undefined {
  if (plan.isDead) return plan.struck.includes('stop') ? 'stop' : 'die';
  const lasting = plan.lasting.get(call);
  // After a call was executed once, a retry that is also lost must not execute it again.
  if (lasting) return lasting === 'drop after' ? 'drop before' : lasting;
  plan.calls += 1;
  plan.commands.push(`${Reflect.get(call, 'commandName')} ${JSON.stringify(input)}`);
  const found = plan.strikes.find(({ at }) => at === plan.calls);
  if (!found) return undefined;
  plan.struck.push(found.kind);
  if (found.kind === 'die' || found.kind === 'stop') plan.isDead = true;
  if (found.lasts) plan.lasting.set(call, found.kind);
  return found.kind;
}

/** An unread answer would keep its connection, and the SDK has only a limited number of them. */
async function discarded<Output extends { response: unknown }>(next: () => Promise<Output>): Promise<Output> {
  const output = await next();
  const { body } = output.response as { body?: unknown };
  if (body instanceof Readable) body.resume();
  return output;
}

const rejections = {
  dynamodb: () =>
    answer(400, '{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"}'),
  s3: () =>
    answer(503, '<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>'),
};

// The innermost step: the call has become a request, and its answer has not been read yet.
const place = { step: 'deserialize', priority: 'low', name: 'wireFaults' } as const;
dynamodb.middlewareStack.add(
  (next, call) => (args) => strike(call, () => next(args), rejections.dynamodb, args.input),
  place,
);
s3().middlewareStack.add(
  (next, call) => (args) => strike(call, () => next(args), rejections.s3, args.input),
  place,
);

function answer(statusCode: number, text: string): object {
  return { statusCode, headers: {}, body: Readable.from([Buffer.from(text)]) };
}

function lostConnection(): Error {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
}
