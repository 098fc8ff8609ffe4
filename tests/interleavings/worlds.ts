import '../support/queue.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { fromAttributes, type Item } from '../../lib/store/items.ts';
import type { Key } from '../../lib/store/keys.ts';
import { dynamodb, tableName } from '../../lib/store/dynamodb.ts';
import { keysIn } from '../../tools/local/dynamodb-conflicts.ts';
import { streamRecord } from '../../tools/local/follow-table.ts';
import { asOperator } from '../support/roles.ts';
import { createTable } from '../support/stores.ts';
import { nameOf, readTable, restoreTable, type StoredItem, type TableImage } from '../support/table-image.ts';

/*
 * Each case has a table and a bucket of its own, copied from those of a world that is made once. Work in a world calls
 * the stores by their usual names, and the names are changed at the wire, so that many cases run side by side.
 */

export interface World {
  /** Its bucket is new; its table has been another world's before. */
  bucket: string;
  table: string;
  /** What its table began with. */
  image: TableImage;
  /** The keys of all records that may have changed since. */
  touched: Key[];
  /** The keys of changed records that the table's stream has not delivered yet. */
  stream: Key[];
  /** Those of deliveries that have not ended. */
  delivered: Map<string, Key[]>;
  /** What its functions have logged. */
  lines: string[];
  /** What its works need to know of it. */
  known: Record<string, string>;
}

const inside = new AsyncLocalStorage<World>();
let count = 0;
const freeTables: Pick<World, 'table' | 'image' | 'touched'>[] = [];

export function worldOf(): World {
  const world = inside.getStore();
  if (!world) throw new Error('This is not the work of a world.');
  return world;
}

interface Request {
  path: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

// The embedded DynamoDB doesn't verify signatures, so requests are changed when they are ready, and replies as they come.
const handler = dynamodb.config.requestHandler as {
  handle: (request: Request, ...rest: unknown[]) => Promise<{ response: { body: Readable } }>;
};
const handle = handler.handle.bind(handler);
handler.handle = async (request, ...rest) => {
  const world = inside.getStore();
  if (!world) return handle(request, ...rest);
  const [usual, own] = [`"${tableName()}"`, `"${world.table}"`];
  const { buffer: bytes, byteOffset, byteLength } = request.body;
  const body = Buffer.from(bytes, byteOffset, byteLength).toString().replaceAll(usual, own);
  const headers = { ...request.headers, 'content-length': String(Buffer.byteLength(body)) };
  const { response } = await handle(Object.assign(request, { body: Buffer.from(body), headers }), ...rest);
  // Only these name the table.
  if (body.startsWith('{"RequestItems"')) {
    const text = (await buffer(response.body)).toString().replaceAll(own, usual);
    response.body = Readable.from([Buffer.from(text)]);
  }
  return { response };
};

s3().middlewareStack.add(
  (next) => (args) => {
    const { path, headers } = args.request as Request;
    const bucket = inside.getStore()?.bucket;
    if (bucket === undefined) return next(args);
    const source = headers['x-amz-copy-source']?.replace(bucketName(), bucket);
    Object.assign(args.request as Request, { path: path.replace(bucketName(), bucket) });
    if (source) headers['x-amz-copy-source'] = source;
    return next(args);
  },
  { step: 'build', priority: 'high', name: 'worlds' },
);
dynamodb.middlewareStack.add(
  (next, { commandName }) =>
    async (args) => {
      const world = inside.getStore();
      if (!world || /^(?:Get|BatchGet|Query|Scan)/.test(String(commandName))) return next(args);
      const written = keysIn(args.input) as Record<'pk' | 'sk', { S: string }>[];
      const keyIn = ({ pk, sk }: Record<'pk' | 'sk', { S: string }>): Key => ({ pk: pk.S, sk: sk.S });
      world.touched.push(...written.map(keyIn));
      try {
        return await next(args);
      } finally {
        // Also if its answer is lost.
        world.stream.push(...written.filter((each) => streamRecord(each, 0)).map(keyIn));
      }
    },
  { step: 'initialize', name: 'streams' },
);

const write = (line: string) => Number(inside.getStore()?.lines.push(line)) > 0;
Object.defineProperty(process, 'stdout', { value: { write }, configurable: true });

const folderOf = (bucket: string) => join(String(process.env.TEST_DIRECTORY), 's3', bucket);

/** Makes a world, from another one if given, and keeps its state for copies. */
export async function makeWorld(
  work: () => Promise<Record<string, string>>,
  from?: Promise<World>,
): Promise<World> {
  const world = await openWorld(await from);
  return inWorld(world, async () => {
    Object.assign(world.known, await work());
    return { ...world, image: await readTable(), touched: [] };
  });
}

/** A world is made by the first test that needs it: before the tests, their file has no table and no bucket. */
export function memo<Given extends string[], Value>(
  make: (...given: Given) => Value,
): (...given: Given) => Value {
  const made = new Map<string, Value>();
  return (...given) => {
    const name = given.join();
    if (!made.has(name)) made.set(name, make(...given));
    return made.get(name) as Value;
  };
}

/** A copy of a world, or a new one. */
export async function openWorld(from?: World): Promise<World> {
  count += 1;
  const bucket = `${bucketName()}-${count}`;
  const image = from?.image ?? new Map();
  const { table, ...before } = freeTables.pop() ?? (await newTable(`${tableName()}-${count}`));
  const world: World = {
    bucket,
    table,
    image,
    touched: [],
    stream: [],
    delivered: new Map(),
    lines: [],
    known: { ...from?.known },
  };
  cpSync(folderOf(from?.bucket ?? bucketName()), folderOf(bucket), { recursive: true });
  await inWorld(world, () => restoreTable(image, imageOf(before)));
  return Object.assign(world, { touched: [], stream: [...(from?.stream ?? [])] });
}

/** Without reading it: a record that may have changed equals none. */
function imageOf({ image, touched }: Pick<World, 'image' | 'touched'>): TableImage {
  const changed = touched.map(({ pk, sk }) => [nameOf(pk, sk), { pk: { S: pk }, sk: { S: sk } }] as const);
  return new Map<string, StoredItem>([...image, ...changed]);
}

async function newTable(table: string) {
  await createTable(table);
  return { table, image: new Map(), touched: [] };
}

export function inWorld<Result>(world: World, work: () => Promise<Result>): Promise<Result> {
  return asOperator(() => inside.run(world, work));
}

export function closeWorld(world: World): void {
  freeTables.push(world);
}

/** Every item of the world's table. */
export async function readItems(): Promise<Item[]> {
  return [...(await readTable()).values()].map(fromAttributes);
}
