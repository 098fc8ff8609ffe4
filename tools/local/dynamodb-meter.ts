import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer, json } from 'node:stream/consumers';
import { consumedIn, kindOf, type Target, targetsOf, type UnitKind, unitsOf } from './dynamodb-units.ts';
import { type Attributes, fail } from './dynamodb-protocol.ts';
import {
  endToEndHeaders,
  holdBack,
  type Origin,
  relay,
  type Server,
  startReverseProxy,
} from './reverse-proxy.ts';

/** One call to the store, with its billed units. */
export interface MeteredCall {
  operation: string;
  reads: number;
  writes: number;
  /** The part of the writes for indexes. */
  indexWrites: number;
  /** The targets of the call, each with its part of the units. */
  targets: { target: Target; units: number }[];
}

interface Options {
  /** The limits of a partition key per second; none by default. */
  limits?: Record<UnitKind, number>;
  /** How long replies are held back, so that simultaneous calls are seen together. */
  hold?: { ms: number };
  /** Called when a call arrives; its result is called when the call is answered. */
  onCall?: () => (call: MeteredCall) => void;
}

interface Meter extends Server {
  /** Whether the limits are enforced, and the partition keys of throttled calls, once for each call. */
  state: { isEnforced: boolean; throttled: string[] };
}

/**
 * Stands in front of a DynamoDB, counts the units of each call as the store reports them, and throttles calls
 * over the limits of their partition keys: a write costs the whole item, even for a small change.
 */
export async function startMeter(url: string, options: Options = {}): Promise<Meter> {
  const state = { isEnforced: options.limits !== undefined, throttled: [] };
  const counting = new Counting(options, state);
  return { ...(await startReverseProxy(url, (...args) => counting.handle(...args))), state };
}

class Counting {
  readonly #options: Options;
  readonly #state: Meter['state'];
  readonly #buckets = new Map<string, { units: number; at: number }>();

  constructor(options: Options, state: Meter['state']) {
    this.#options = options;
    this.#state = state;
  }

  async handle(request: IncomingMessage, response: ServerResponse, origin: Origin): Promise<void> {
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const kind = kindOf(operation);
    if (kind === undefined) return relay(await origin.send(request), response);
    const onAnswer = this.#options.onCall?.();
    const body = await buffer(request);
    const targets = targetsOf(operation, body);
    const full = this.#full(kind, targets);
    if (full) {
      this.#state.throttled.push(full.partition);
      return throttle(response, operation, kind, targets.length);
    }
    const asking = { ...JSON.parse(body.toString()), ReturnConsumedCapacity: 'INDEXES' };
    const reply = await origin.send(request, { body: Buffer.from(JSON.stringify(asking)) });
    const content = await buffer(reply);
    const { units, indexUnits } = consumedIn(content);
    const shares = targets.length === 1 ? [units] : await this.#shares(kind, targets, request, origin, units);
    const shared = targets.map((target, place) => ({ target, units: shares[place] ?? 0 }));
    for (const each of shared) this.#spend(kind, each.target.partition, each.units);
    await holdBack(this.#options.hold?.ms ?? 0);
    onAnswer?.({
      operation,
      reads: kind === 'reads' ? units : 0,
      writes: kind === 'writes' ? units : 0,
      indexWrites: kind === 'writes' ? indexUnits : 0,
      targets: shared,
    });
    response.writeHead(reply.statusCode ?? 502, endToEndHeaders(reply)).end(content);
  }

  /** A reply has the sum of all its items. Each gets a part by its size afterwards. */
  async #shares(
    kind: UnitKind,
    targets: readonly Target[],
    request: IncomingMessage,
    origin: Origin,
    sum: number,
  ): Promise<number[]> {
    if (kind === 'reads') return targets.map(() => sum / targets.length);
    const sizes = await Promise.all(targets.map((target) => unitsOfTarget(target, request, origin)));
    const all = sizes.reduce((total, size) => total + size, 0);
    return sizes.map((size) => (sum * size) / all);
  }

  /** The cost of a call is known only afterwards: it passes while any units are left. */
  #full(kind: UnitKind, targets: readonly Target[]): Target | undefined {
    if (!this.#state.isEnforced) return undefined;
    return targets.find(({ partition }) => this.#left(kind, partition) < 1);
  }

  #left(kind: UnitKind, partition: string): number {
    const limit = this.#options.limits?.[kind] ?? Number.POSITIVE_INFINITY;
    const bucket = this.#buckets.get(`${kind} ${partition}`);
    if (!bucket) return limit;
    return Math.min(limit, bucket.units + ((performance.now() - bucket.at) * limit) / 1000);
  }

  #spend(kind: UnitKind, partition: string, units: number): void {
    if (!this.#state.isEnforced) return;
    const left = this.#left(kind, partition) - units;
    this.#buckets.set(`${kind} ${partition}`, { units: left, at: performance.now() });
  }
}

async function unitsOfTarget(
  { table, partition, sort = '' }: Target,
  request: IncomingMessage,
  origin: Origin,
): Promise<number> {
  const Key = { pk: { S: partition }, sk: { S: sort } };
  const reply = await origin.send(request, {
    // The meter reads, not the function.
    headers: { 'x-amz-target': 'DynamoDB_20120810.GetItem', 'running-function': [] },
    body: Buffer.from(JSON.stringify({ TableName: table, Key, ConsistentRead: true })),
  });
  const { Item = {} } = (await json(reply)) as { Item?: Attributes };
  return unitsOf(Item);
}

const message = 'The level of configured provisioned throughput for the table was exceeded.';

function throttle(response: ServerResponse, operation: string, kind: UnitKind, parts: number): void {
  if (operation === 'TransactWriteItems') {
    const reason = { Code: 'ThrottlingError', Message: message };
    const CancellationReasons = Array.from({ length: parts }, () => reason);
    fail(response, 'TransactionCanceledException', { CancellationReasons, Message: message });
  } else {
    const reason = `Table${kind === 'reads' ? 'Read' : 'Write'}KeyRangeThroughputExceeded`;
    const ThrottlingReasons = [{ reason, resource: 'arn:aws:dynamodb:us-east-1:000000000000:table/local' }];
    fail(response, 'ProvisionedThroughputExceededException', { message, ThrottlingReasons });
  }
}
