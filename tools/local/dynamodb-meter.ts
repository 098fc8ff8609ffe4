import type { IncomingMessage } from 'node:http';
import { buffer, json } from 'node:stream/consumers';
import { consumedIn, kindOf, type Target, targetsOf, type UnitKind, unitsOf } from './dynamodb-units.ts';
import type { Attributes } from './dynamodb-protocol.ts';
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
  reads: number;
  writes: number;
  /** The part of the writes for indexes. */
  indexWrites: number;
  /** The targets of the call, each with its part of the units. */
  targets: { target: Target; units: number }[];
}

interface Options {
  /** How long replies are held back, so that simultaneous calls are seen together. */
  hold: { ms: number };
  /** Called when a call arrives; its result is called when the call is answered. */
  onCall: () => (call: MeteredCall) => void;
}

/**
 * Stands in front of a DynamoDB, and counts the units of each call as the store reports them: a write costs the whole item,
 * even for a small change.
 */
export function startMeter(url: string, { hold, onCall }: Options): Promise<Server> {
  return startReverseProxy(url, async (request, response, origin) => {
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const kind = kindOf(operation);
    if (kind === undefined) return relay(await origin.send(request), response);
    const onAnswer = onCall();
    const body = await buffer(request);
    const targets = targetsOf(operation, body);
    const asking = { ...JSON.parse(body.toString()), ReturnConsumedCapacity: 'INDEXES' };
    const reply = await origin.send(request, { body: Buffer.from(JSON.stringify(asking)) });
    const content = await buffer(reply);
    const { units, indexUnits } = consumedIn(content);
    const shares = targets.length === 1 ? [units] : await sharesOf(kind, targets, request, origin, units);
    await holdBack(hold.ms);
    onAnswer({
      reads: kind === 'reads' ? units : 0,
      writes: kind === 'writes' ? units : 0,
      indexWrites: kind === 'writes' ? indexUnits : 0,
      targets: targets.map((target, place) => ({ target, units: shares[place] ?? 0 })),
    });
    response.writeHead(reply.statusCode ?? 502, endToEndHeaders(reply)).end(content);
  });
}

/** A reply has the sum of all its items. Each gets a part by its size afterwards. */
async function sharesOf(
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
