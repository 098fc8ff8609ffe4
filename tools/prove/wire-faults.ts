import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { s3 } from '../../lib/bucket/bucket.ts';
import { dynamodb } from '../../lib/store/table.ts';
import type { SeededRandom } from './seeded-random.ts';

/**
 * What befalls one call on its way to DynamoDB or S3, under the SDK's own retries: refused for now, late, lost
 * before it arrived or after it was carried out, or answered with what nobody can read. `die` is the end of the
 * invocation: from there on no call gets through.
 */
const wireFaults = ['throttle', 'delay', 'drop before', 'drop after', 'garbage', 'die'] as const;
type WireFault = (typeof wireFaults)[number];

/** Which calls are struck, by their number, and what has come of it. */
export interface FaultPlan {
  strikes: ReadonlyMap<number, WireFault>;
  calls: number;
  struck: WireFault[];
}

const plans = new AsyncLocalStorage<FaultPlan | undefined>();
const longestDelayMs = 60;

export function drawPlan(random: SeededRandom, lastCall: number): FaultPlan {
  const count = 1 + random.below(3);
  const strikes = Array.from(
    { length: count },
    () => [1 + random.below(lastCall), random.pick(wireFaults)] as const,
  );
  // A fault that lasts is one that the SDK's retries do not get over.
  const first = strikes[0];
  if (first && random.isOnceIn(3)) strikes.push([first[0] + 1, first[1]], [first[0] + 2, first[1]]);
  return { strikes: new Map(strikes), calls: 0, struck: [] };
}

/** Carries a plan out on all calls that `work` makes, and on no others. */
export function underPlan<Result>(plan: FaultPlan | undefined, work: () => Promise<Result>): Promise<Result> {
  return plans.run(plan, work);
}

export async function injectFaults(): Promise<{ stop: () => void }> {
  await retryAtOnce(dynamodb);
  await retryAtOnce(s3);
  const name = 'wireFaults';
  // The innermost step: here a call has become a request, and its answer is not read yet.
  const options = { step: 'deserialize', priority: 'low', name } as const;
  dynamodb.middlewareStack.add((next) => (args) => strike('dynamodb', () => next(args)), options);
  s3.middlewareStack.add((next) => (args) => strike('s3', () => next(args)), options);
  return { stop: () => [dynamodb, s3].forEach(({ middlewareStack }) => void middlewareStack.remove(name)) };
}

/** The SDK would wait up to seconds before it tries again, and a hunt has thousands of faults to get through. */
async function retryAtOnce({ config }: Pick<typeof dynamodb | typeof s3, 'config'>): Promise<void> {
  const backoff: unknown = Reflect.get(await config.retryStrategy(), 'retryBackoffStrategy');
  if (typeof backoff !== 'object' || backoff === null) throw new Error('The SDK retries in another way now.');
  Object.assign(backoff, { computeNextBackoffDelay: () => 1 });
}

type Service = keyof typeof refusals;

async function strike<Output extends { response: unknown }>(
  service: Service,
  next: () => Promise<Output>,
): Promise<Output> {
  const plan = plans.getStore();
  if (!plan) return next();
  plan.calls += 1;
  const isDead = plan.struck.includes('die');
  const fault = isDead ? 'die' : plan.strikes.get(plan.calls);
  if (!fault) return next();
  plan.struck.push(fault);
  switch (fault) {
    case 'throttle':
      return { response: refusals[service]() } as Output;
    case 'delay':
      await pause(1 + ((plan.calls * 17) % longestDelayMs));
      return next();
    case 'drop after':
      await thrownAway(next);
      throw lostConnection();
    case 'garbage':
      return { ...(await thrownAway(next)), response: answer(200, '<html>Have a nice day</html>') };
    case 'drop before':
    case 'die':
      throw lostConnection();
  }
}

/** An answer that nobody reads would keep its connection, of which the SDK has only so many. */
async function thrownAway<Output extends { response: unknown }>(
  next: () => Promise<Output>,
): Promise<Output> {
  const output = await next();
  const { body } = output.response as { body?: unknown };
  if (body instanceof Readable) body.resume();
  return output;
}

const throttled = '{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"}';
const refusals = {
  dynamodb: () => answer(400, throttled),
  s3: () =>
    answer(503, '<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>'),
};

function answer(statusCode: number, text: string): object {
  return { statusCode, headers: {}, body: Readable.from([Buffer.from(text)]) };
}

function lostConnection(): Error {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
}
