import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import {
  type AttributeValue,
  BatchWriteItemCommand,
  type DynamoDBClient,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import type { S3Event } from 'aws-lambda';
import { bundle, manifestOf } from '../../infra/bundle/build.ts';
import type { Template } from '../../infra/plugins/framework.ts';
import { localClient } from '../../tools/local/dynamodb.ts';
import type { SigningKey } from '../../tools/local/issuer.ts';
import { encodeEventKey } from '../../tools/local/s3-event-key.ts';
import { type FunctionProcess, startFunctions } from '../support/function-process.ts';
import type { State } from './journeys.ts';
import type { Stage } from './stage.ts';

/** A release as it was: what it ran, what it deployed, and a table and a bucket that it wrote. */
export interface Recording {
  release: string;
  recordedAt: string;
  /** Texts by path: a folder for each function, and `admin`. */
  bundles: Record<string, string>;
  templates: Record<'direct' | 'full', Template>;
  key: SigningKey;
  /** The addresses of the embedded S3 and of the receiver, which records contain. */
  addresses: string[];
  table: Record<string, AttributeValue>[];
  /** The files of the embedded S3, in base64. */
  objects: { path: string; at: number; bytes: string }[];
  /** Where each journey stands after so many of its steps. */
  journeys: { name: string; steps: number; state: State }[];
}

export function recordingFile(release: string): string {
  return `tests/upgrade/${release}.json.br`;
}

export async function readRecording(release: string): Promise<Recording> {
  return JSON.parse(brotliDecompressSync(await readFile(recordingFile(release))).toString());
}

export function addressesOf({ environment, receiverUrl }: Stage): string[] {
  return [String(environment.AWS_ENDPOINT_URL_S3), receiverUrl];
}

/** The same records with the addresses of another stage. */
function movedTo<Records>(stage: Stage, { addresses }: Recording, records: Records): Records {
  let text = JSON.stringify(records);
  for (const [place, address] of addressesOf(stage).entries())
    text = text.replaceAll(String(addresses[place]), address);
  return JSON.parse(text);
}

export async function writeRecording(recording: Recording): Promise<number> {
  const bytes = Buffer.from(JSON.stringify(recording));
  const params = {
    // All bundles contain the same SDK: the window must reach from one to the next.
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  const packed = brotliCompressSync(bytes, { params });
  await writeFile(recordingFile(recording.release), packed);
  return packed.length;
}

/** The bundles of this tree: what the last build left in dist, and the administration. */
export async function bundlesOfTree(): Promise<Record<string, string>> {
  const entry = { index: 'tools/admin/command-line.ts' };
  const outputs = [...(await bundle(entry, 'admin')), manifestOf('admin')];
  const bundles: Record<string, string> = {};
  for (const { path, contents } of outputs)
    if (!path.endsWith('.map'))
      bundles[path.slice(path.lastIndexOf('admin/'))] = Buffer.from(contents).toString();
  for (const name of await readdir('dist', { recursive: true }))
    if (/\/[^/]+\.js(?:on)?$/.test(name)) bundles[name] = await readFile(join('dist', name), 'utf8');
  return bundles;
}

export async function writeBundles(folder: string, bundles: Record<string, string>): Promise<string> {
  for (const [path, text] of Object.entries(bundles)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

/** The bundles in a folder, which has one for each function. */
export function startRelease(
  name: string,
  folder: string,
  environment: NodeJS.ProcessEnv,
  clockOffset: number,
): FunctionProcess {
  const fileOf = (file: string) => join(folder, file, 'index.js');
  return startFunctions({ name, fileOf, environment, clockOffset });
}

function clientOf({ environment }: Stage): DynamoDBClient {
  return localClient(String(environment.AWS_ENDPOINT_URL_DYNAMODB));
}

export async function readStores(stage: Stage): Promise<Pick<Recording, 'table' | 'objects'>> {
  const client = clientOf(stage);
  const table: Recording['table'] = [];
  const scan = { TableName: String(stage.environment.TABLE_NAME), ConsistentRead: true };
  for await (const { Items = [] } of paginateScan({ client }, scan)) table.push(...Items.map(packed));
  client.destroy();
  const names = await readdir(stage.s3Directory, { recursive: true, withFileTypes: true });
  const objects = names
    .filter((entry) => entry.isFile())
    .map(async (entry) => {
      const file = join(entry.parentPath, entry.name);
      const { mtimeMs } = await stat(file);
      const path = file.slice(stage.s3Directory.length + 1);
      return { path, at: mtimeMs, bytes: (await readFile(file)).toString('base64') };
    });
  return { table, objects: await Promise.all(objects) };
}

/** JSON has no bytes: a recording has them in base64. */
function withBytes(item: Recording['table'][number], convert: (bytes: unknown) => unknown) {
  const entries = Object.entries(item).map(([name, value]) => [
    name,
    value.B ? { B: convert(value.B) } : value,
  ]);
  return Object.fromEntries(entries);
}

const packed = (item: Recording['table'][number]) =>
  withBytes(item, (bytes) => Buffer.from(bytes as Uint8Array).toString('base64'));
const unpacked = (item: Recording['table'][number]) =>
  withBytes(item, (text) => Buffer.from(String(text), 'base64'));

const maxBatch = 25;

/**
 * Writes the recorded table and bucket into a stage, which tells of all of it: events come at least once. Returns where its
 * journeys stand.
 */
export async function restoreStores(stage: Stage, recording: Recording): Promise<Recording['journeys']> {
  const { table, journeys } = movedTo(stage, recording, {
    table: recording.table,
    journeys: recording.journeys,
  });
  const client = clientOf(stage);
  for (let start = 0; start < table.length; start += maxBatch) {
    const puts = table
      .slice(start, start + maxBatch)
      .map((item) => ({ PutRequest: { Item: unpacked(item) } }));
    const RequestItems = { [String(stage.environment.TABLE_NAME)]: puts };
    await client.send(new BatchWriteItemCommand({ RequestItems }));
  }
  client.destroy();
  for (const { path, at, bytes } of recording.objects) {
    const file = join(stage.s3Directory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, Buffer.from(bytes, 'base64'));
    await utimes(file, at / 1000, at / 1000);
    if (path.endsWith('/history.json')) {
      const { key } = JSON.parse(Buffer.from(bytes, 'base64').toString());
      stage.events.stored(objectCreated(key));
    }
  }
  for (const item of table) stage.events.wrote(item);
  return journeys;
}

function objectCreated(key: string): S3Event {
  const event: S3Event = JSON.parse(readFileSync('events/finalize-upload.json', 'utf8'));
  for (const { s3 } of event.Records) s3.object.key = encodeEventKey(key);
  return event;
}
