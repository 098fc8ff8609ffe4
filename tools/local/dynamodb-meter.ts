import { buffer } from 'node:stream/consumers';
import { kindOf, targetsOf } from './dynamodb-units.ts';
import { endToEndHeaders, holdBack, relay, type Server, startReverseProxy } from './reverse-proxy.ts';

/** One call to the store, with its billed units. */
export interface MeteredCall {
  reads: number;
  writes: number;
  /** The part of the writes for indexes. */
  indexWrites: number;
  /** The partition of its first item. */
  partition: string;
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
    const [{ partition = '' } = {}] = targetsOf(operation, body);
    const asking = { ...JSON.parse(body.toString()), ReturnConsumedCapacity: 'INDEXES' };
    const reply = await origin.send(request, { body: Buffer.from(JSON.stringify(asking)) });
    const content = await buffer(reply);
    const { units, indexUnits } = consumedIn(content);
    await holdBack(hold.ms);
    onAnswer({
      reads: kind === 'reads' ? units : 0,
      writes: kind === 'writes' ? units : 0,
      indexWrites: kind === 'writes' ? indexUnits : 0,
      partition,
    });
    response.writeHead(reply.statusCode ?? 502, endToEndHeaders(reply)).end(content);
  });
}

interface Consumed {
  CapacityUnits: number;
  GlobalSecondaryIndexes?: Record<string, { CapacityUnits: number }>;
}

/** The billed units in a reply, and those for an index. No reply has those of a failed condition. */
function consumedIn(content: Buffer): { units: number; indexUnits: number } {
  const { ConsumedCapacity = [] }: { ConsumedCapacity?: Consumed | Consumed[] } = JSON.parse(`${content}`);
  const tables = [ConsumedCapacity].flat();
  const sumOf = (all: { CapacityUnits: number }[]) =>
    all.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
  const ofIndexes = tables.flatMap(({ GlobalSecondaryIndexes = {} }) =>
    Object.values(GlobalSecondaryIndexes),
  );
  return { units: sumOf(tables), indexUnits: sumOf(ofIndexes) };
}
