import type { IncomingMessage } from 'node:http';
import { consumedIn, kindOf, type Target, targetsOf, type UnitKind, unitsOf } from './dynamodb-units.ts';
import type { Attributes } from './dynamodb-protocol.ts';
import {
  endToEndHeaders,
  holdBack,
  type Origin,
  readAll,
  relay,
  startReverseProxy,
} from './reverse-proxy.ts';

/** One call to the store, with the units that it is billed. */
export interface MeteredCall {
  reads: number;
  writes: number;
  /** The part of the writes that indexes take. */
  indexWrites: number;
  /** What it was about, each with its part of the units. */
  targets: { target: Target; units: number }[];
}

interface Options {
  /** How long replies are held back, so that calls that leave together are seen together. */
  hold?: { ms: number };
  /** `begin` is called when the call arrives, and what it returns when it is answered. */
  onCall: () => (call: MeteredCall) => void;
}

/**
 * Stands in front of a DynamoDB, and counts the units of each call as the store itself reports them: a write costs the whole
 * item, however little of it changes.
 */
export function startMeter(url: string, { hold, onCall }: Options) {
  return startReverseProxy(url, async (request, response, origin) => {
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const kind = kindOf(operation);
    if (kind === undefined) return relay(await origin.send(request), response);
    const onAnswer = onCall();
    const body = await readAll(request);
    const targets = targetsOf(operation, body);
    const asking = { ...JSON.parse(body.toString()), ReturnConsumedCapacity: 'INDEXES' };
    const reply = await origin.send(request, { body: Buffer.from(JSON.stringify(asking)) });
    const content = await readAll(reply);
    const { units, indexUnits } = consumedIn(content);
    const shares = targets.length === 1 ? [units] : await sharesOf(kind, targets, request, origin, units);
    await holdBack(hold?.ms ?? 0);
    onAnswer({
      reads: kind === 'reads' ? units : 0,
      writes: kind === 'writes' ? units : 0,
      indexWrites: kind === 'writes' ? indexUnits : 0,
      targets: targets.map((target, place) => ({ target, units: shares[place] ?? 0 })),
    });
    response.writeHead(reply.statusCode ?? 502, endToEndHeaders(reply)).end(content);
  });
}

/** A reply has the sum of all its items. Each takes a part by its size afterwards. */
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
  const { Item = {} }: { Item?: Attributes } = JSON.parse((await readAll(reply)).toString());
  return unitsOf(Item);
}
