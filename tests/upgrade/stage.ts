import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { DynamoDBRecord } from 'aws-lambda';
import { expect } from '@jest/globals';
import { directory } from '@node-registry/testing/folders';
import { fileOf } from '../../infra/operations.ts';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { tableName } from '../../lib/store/dynamodb.ts';
import { laneNames, lanes } from '../../lib/work/lanes.ts';
import { streamRecord } from '../../tools/local/follow-table.ts';
import { createTable } from '../../tools/local/table.ts';
import { startStrictDynamoDb } from '../../tools/local/dynamodb-conflicts.ts';
import { startS3 } from '../../tools/local/s3.ts';
import { startSimulators } from '../../tools/simulators/start-simulators.ts';
import { keysBelow } from '../support/bucket-objects.ts';
import { indexChanges, queueOf, runQueue } from '../support/queue.ts';
import { startReceiver } from '../support/receiver.ts';
import '../support/relay.ts';
import { bucketDenial, tableDenial } from '../support/rights.ts';
import { untilEnd } from '../support/serve.ts';
import { restoreTable, type StoredItem, type TableImage } from '../support/table-image.ts';
import { setVariables } from '../support/variables.ts';
import type { Side } from './side.ts';

/* What two releases serve together: a table, its stream, a bucket, queues, providers, and a receiver. */

const stream: DynamoDBRecord[] = [];
const [dynamodb, bucket, simulators, receiver] = await Promise.all([
  startStrictDynamoDb({
    denialOf: tableDenial,
    onWrite: (attributes) =>
      stream.push(...[streamRecord(attributes, stream.length)].flatMap((it) => it ?? [])),
  }),
  startS3(0, `${directory}/s3`, bucketName(), { denialOf: bucketDenial, uploads: queueOf('finalize') }),
  startSimulators({
    keys: { image: String(process.env.IMAGE_PROVIDER_KEY), video: String(process.env.VIDEO_PROVIDER_KEY) },
    tickMs: 3_600_000,
    hasEveryFilm: true,
  }),
  startReceiver(),
]);
for (const part of [dynamodb, bucket, simulators, receiver]) untilEnd(part);
await createTable(dynamodb.url, tableName());
setVariables({
  AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url,
  AWS_ENDPOINT_URL_S3: bucket.url,
  DOWNLOAD_BASE_URL: `${bucket.url}/${bucketName()}`,
  IMAGE_PROVIDER_URL: `${simulators.url}/image`,
  VIDEO_PROVIDER_URL: `${simulators.url}/video`,
});

export const { simulation } = simulators;
export { receiver };

/** Gives a release what waits: changes of the table, and messages. What comes of those waits for the next one. */
export async function handle(side: Side): Promise<number> {
  const Records = stream.splice(0);
  if (Records.length > 0)
    expect(await side.run('write-index', { Records })).toEqual({ batchItemFailures: [] });
  expect(indexChanges.bodies).toEqual([]);
  let count = Records.length;
  // An extraction is owed by the end of an upload.
  for (const lane of laneNames.toReversed()) {
    const name = fileOf(lanes[lane].function);
    count += await runQueue((event) => side.run(name, event) as Promise<undefined>, lane);
  }
  return count;
}

/** The same until nothing waits. */
export async function handleAll(side: Side): Promise<void> {
  while ((await handle(side)) > 0);
}

/** What a later release may add to each item, file and message. */
export const addition = { added_by_a_later_release: 'kept' };
const added: StoredItem = { added_by_a_later_release: { M: { some: { L: [{ N: '1' }, { BOOL: true }] } } } };

/** Lets everything look as if a later release had written it. Returns the table as it is then. */
export async function addToAll(image: TableImage): Promise<TableImage> {
  const waiting = stream.length;
  const next = new Map([...image].map(([name, item]) => [name, { ...item, ...added }]));
  await restoreTable(next, image);
  stream.length = waiting;
  const files = (await keysBelow('')).filter((key) => key.endsWith('.json'));
  await Promise.all(files.map(addToFile));
  return next;
}

async function addToFile(Key: string): Promise<void> {
  const where = { Bucket: bucketName(), Key };
  const { Body, ContentType, CacheControl } = await s3().send(new GetObjectCommand(where));
  const content = JSON.parse(String(await Body?.transformToString()));
  const Text = JSON.stringify({ ...content, ...addition });
  if (!('added_by_a_later_release' in content))
    await s3().send(new PutObjectCommand({ ...where, Body: Text, ContentType, CacheControl }));
}

type Missing = readonly [attribute: string, key: string];

/** The attributes that items of an image have, and those of another one lack. */
export function missing(image: TableImage, other: TableImage): Missing[] {
  return [...image].flatMap(([key, item]) => {
    const found = other.get(key) ?? {};
    return Object.keys(item).flatMap((name) => (name in found ? [] : [[plainName(name), key] as const]));
  });
}

/** Those that a step has taken from items that are still there. A publish that resumes a version replaces all of it. */
export function dropped(found: TableImage, left: TableImage): Missing[] {
  const isSame = (key: string) => left.get(key)?.upload_id?.S === found.get(key)?.upload_id?.S;
  return missing(found, left).filter(([, key]) => left.has(key) && isSame(key));
}

/** Without the part that differs, as in `credits:2026-11-29` and in the name of an open attempt. */
const plainName = (attribute: string) => attribute.replace(/[:@].*$/s, '');
