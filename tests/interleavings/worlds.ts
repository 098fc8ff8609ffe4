import '../support/queue.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { fromAttributes, type Item } from '../../lib/store/items.ts';
import type { Key } from '../../lib/store/keys.ts';
import { dynamodb, tableName } from '../../lib/store/dynamodb.ts';
import { readWrite } from '../../tools/local/dynamodb-protocol.ts';
import { streamRecord } from '../../tools/local/follow-table.ts';
import { asOperator } from '../support/roles.ts';
import { createTable } from '../support/stores.ts';
import { readTable, restoreTable, type TableImage } from '../support/table-image.ts';

/*
 * Each case has a table and a bucket of its own, copied from those of a world that is made once. Work in a world calls
 * the stores by their usual names, and the names are changed at the wire, so that many cases run side by side.
 */

export interface World {
  /** Its bucket is new; its table has been another world's before. */
  bucket: string;
  table: string;
  /** The keys of changed records that the table's stream has not delivered yet. */
  stream: Key[];
  /** Those of deliveries that have not ended. */
  delivered: Map<string, Key[]>;
  /** What its functions have logged. */
  lines: string[];
  /** What its works need to know of it. */
  known: Record<string, string>;
}

export interface Snapshot extends World {
  image: TableImage;
}

const inside = new AsyncLocalStorage<World>();
let count = 0;
const freeTables: string[] = [];

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
  (next) => async (args) => {
    const result = await next(args);
    const { actions } = readWrite(Buffer.from(JSON.stringify(args.input)));
    const records = actions.flatMap(({ attributes }) => streamRecord(attributes, 0) ?? []);
    inside.getStore()?.stream.push(
      ...records.map(({ dynamodb: { Keys } = {} }) => ({
        pk: String(Keys?.pk?.S),
        sk: String(Keys?.sk?.S),
      })),
    );
    return result;
  },
  { step: 'initialize', name: 'streams' },
);

const write = (line: string) => Number(inside.getStore()?.lines.push(line)) > 0;
Object.defineProperty(process, 'stdout', { value: { write }, configurable: true });

const folderOf = (bucket: string) => join(String(process.env.TEST_DIRECTORY), 's3', bucket);

/** Makes a world, from another one if given, and keeps its state for copies. */
export async function makeWorld(
  work: () => Promise<Record<string, string>>,
  from?: Promise<Snapshot>,
): Promise<Snapshot> {
  const world = await openWorld(await from);
  return inWorld(world, async () => {
    Object.assign(world.known, await work());
    return { ...world, image: await readTable() };
  });
}

/** A copy of a world, or a new one. */
export async function openWorld(from?: Snapshot): Promise<World> {
  count += 1;
  const bucket = `${bucketName()}-${count}`;
  const table = freeTables.pop() ?? (await newTable(`${tableName()}-${count}`));
  const world: World = {
    bucket,
    table,
    stream: [],
    delivered: new Map(),
    lines: [],
    known: { ...from?.known },
  };
  await Promise.all([
    inWorld(world, async () => restoreTable(from?.image ?? new Map(), await readTable())),
    cp(folderOf(from?.bucket ?? bucketName()), folderOf(bucket), { recursive: true }),
  ]);
  world.stream = [...(from?.stream ?? [])];
  return world;
}

async function newTable(name: string): Promise<string> {
  await createTable(name);
  return name;
}

export function inWorld<Result>(world: World, work: () => Promise<Result>): Promise<Result> {
  return asOperator(() => inside.run(world, work));
}

export async function closeWorld({ bucket, table }: World): Promise<void> {
  freeTables.push(table);
  await rm(folderOf(bucket), { recursive: true });
}

/** Every item of the world's table. */
export async function readItems(): Promise<Item[]> {
  return [...(await readTable()).values()].map(fromAttributes);
}
