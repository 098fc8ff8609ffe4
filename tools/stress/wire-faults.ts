import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { dynamodb, s3 } from './stores.ts';

/**
 * What can happen to one call on its way to DynamoDB or S3, below the SDK's own retries: throttled, late, lost
 * before it arrived or after it was carried out, or answered with something unreadable. `die` ends the
 * invocation: no later call gets through.
 */
export const faultKinds = ['throttle', 'delay', 'drop before', 'drop after', 'garbage', 'die'] as const;
type FaultKind = (typeof faultKinds)[number];

export interface Strike {
  /** The number of the call, counted over DynamoDB and S3 together. */
  at: number;
  kind: FaultKind;
  /** Strikes the SDK's retries of the call too, so that they do not get over it. */
  lasts: boolean;
}

/** Some strikes under way. Each work has its own, so that several can run at once. */
export interface FaultPlan {
  strikes: readonly Strike[];
  calls: number;
  struck: FaultKind[];
  /** The call of each attempt: an attempt that the SDK repeats is the same call. */
  lasting: WeakMap<object, FaultKind>;
  isDead: boolean;
}

const plans = new AsyncLocalStorage<FaultPlan>();
const maxDelayMs = 60;

export function planOf(strikes: readonly Strike[]): FaultPlan {
  return { strikes, calls: 0, struck: [], lasting: new WeakMap(), isDead: false };
}

/** Lets the plan strike the calls that `work` makes, and no others. */
export function underPlan<Result>(plan: FaultPlan, work: () => Promise<Result>): Promise<Result> {
  return plans.run(plan, work);
}

/** The next invocation is another process. */
export function revive(): void {
  const plan = plans.getStore();
  if (plan) plan.isDead = false;
}

/** From here on, plans strike. */
export async function injectFaults(): Promise<{ stop: () => void }> {
  await retryAtOnce(dynamodb);
  await retryAtOnce(s3);
  const name = 'wireFaults';
  // The innermost step: here a call has become a request, and its answer is not read yet.
  const options = { step: 'deserialize', priority: 'low', name } as const;
  dynamodb.middlewareStack.add(
    (next, call) => (args) => strike(call, () => next(args), refusals.dynamodb),
    options,
  );
  s3.middlewareStack.add((next, call) => (args) => strike(call, () => next(args), refusals.s3), options);
  return { stop: () => [dynamodb, s3].forEach(({ middlewareStack }) => void middlewareStack.remove(name)) };
}

/** Strikes a call that goes past the SDKs, such as a PUT to a signed URL. */
export function overTheWire<Result>(call: () => Promise<Result>): Promise<Result> {
  const wrapped = async () => ({ response: {}, result: await call() });
  return strike({}, wrapped, () => {
    throw lostConnection();
  }).then(({ result }) => result);
}

/** The SDK would wait up to seconds before it tries again, and there are thousands of faults to get through. */
async function retryAtOnce({ config }: Pick<typeof dynamodb | typeof s3, 'config'>): Promise<void> {
  const backoff: unknown = Reflect.get(await config.retryStrategy(), 'retryBackoffStrategy');
  if (typeof backoff !== 'object' || backoff === null) throw new Error('The SDK retries in another way now.');
  Object.assign(backoff, { computeNextBackoffDelay: () => 1 });
}

async function strike<Output extends { response: unknown }>(
  call: object,
  next: () => Promise<Output>,
  throttled: () => object,
): Promise<Output> {
  const plan = plans.getStore();
  const kind = plan && kindFor(plan, call);
  if (!kind) return next();
  switch (kind) {
    case 'throttle':
      return { response: throttled() } as Output;
    case 'delay':
      await pause(1 + ((plan.calls * 17) % maxDelayMs));
      return next();
    case 'drop after':
      await discarded(next);
      throw lostConnection();
    case 'garbage':
      return { ...(await discarded(next)), response: answer(200, '<html>Have a nice day</html>') };
    case 'drop before':
    case 'die':
      throw lostConnection();
  }
}

function kindFor(plan: FaultPlan, call: object): FaultKind | undefined {
  if (plan.isDead) return 'die';
  const lasting = plan.lasting.get(call);
  // What was carried out once is not carried out again by a retry that gets lost too.
  if (lasting) return lasting === 'drop after' ? 'drop before' : lasting;
  plan.calls += 1;
  const found = plan.strikes.find(({ at }) => at === plan.calls);
  if (!found) return undefined;
  plan.struck.push(found.kind);
  if (found.kind === 'die') plan.isDead = true;
  if (found.lasts) plan.lasting.set(call, found.kind);
  return found.kind;
}

/** An answer that is not read would keep its connection, of which the SDK has only so many. */
async function discarded<Output extends { response: unknown }>(next: () => Promise<Output>): Promise<Output> {
  const output = await next();
  const { body } = output.response as { body?: unknown };
  if (body instanceof Readable) body.resume();
  return output;
}

const refusals = {
  dynamodb: () =>
    answer(400, '{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"}'),
  s3: () =>
    answer(503, '<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>'),
};

function answer(statusCode: number, text: string): object {
  return { statusCode, headers: {}, body: Readable.from([Buffer.from(text)]) };
}

function lostConnection(): Error {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
}

export function isLostConnection(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'ECONNRESET';
}
