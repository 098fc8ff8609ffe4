import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { bucketName } from '../bucket/bucket.ts';
import { deleteAt, listKeys, putJson, readBytes } from '../bucket/plain-objects.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { addDownloads, type Counts, countDownloads } from './access-log.ts';

/*
 * What a log file adds up to is an object of its own under the file's name, so that a file is counted once however often
 * its event comes:
 *
 *   logs' bucket   downloads/<distribution>.<day>-<hour>.<id>.gz   deleted once it is counted, unless accesses are logged
 *   archives'      counts/<day>/<the file's name>.json             kept for some days more than they are summed up
 *   archives'      counts/-nodes.json                              written by each daily run; listed before any day
 */

const logPrefix = 'downloads/';
const countPrefix = 'counts/';

/** The object for the sum of a log file; undefined for any other key. */
function countKeyOf(logKey: string): string | undefined {
  const [, name, day] = /^downloads\/([^/]+\.(\d{4}-\d\d-\d\d)-\d\d\.[^/]+)\.gz$/.exec(logKey) ?? [];
  return name === undefined ? undefined : `${countPrefix}${day}/${name}.json`;
}

const unzip = promisify(gunzip);

/** Writes the sum of a log file. One that was counted before may be gone. */
export async function countFile(
  context: Context,
  logKey: string,
): Promise<'counted' | 'missing' | 'unknown'> {
  const Key = countKeyOf(logKey);
  if (Key === undefined) return 'unknown';
  const { LOG_BUCKET_NAME, ACCESS_LOGS } = config.downloadLogs();
  const log = { Bucket: LOG_BUCKET_NAME, Key: logKey };
  const bytes = await readBytes(context, log);
  if (bytes === undefined) return 'missing';
  const counts = countDownloads((await unzip(bytes)).toString());
  const Body = JSON.stringify(
    [...counts].map(([id, days]) => [id, [...days].map(([day, v]) => [day, [...v]])]),
  );
  await putJson(context, { Bucket: bucketName(), Key }, Body);
  // It has the addresses of people.
  if (ACCESS_LOGS !== 'on') await deleteAt(context, log);
  return 'counted';
}

/** Counts the files whose events were lost. */
export async function countMissed(context: Context, from: string): Promise<number> {
  const counted = new Set<string>();
  for await (const key of listKeys(context, bucketName(), countPrefix, `${countPrefix}${from}`))
    counted.add(key);
  let missed = 0;
  for await (const key of listKeys(context, config.downloadLogs().LOG_BUCKET_NAME, logPrefix)) {
    const countKey = countKeyOf(key);
    if (countKey === undefined || counted.has(countKey) || countKey < `${countPrefix}${from}`) continue;
    if ((await countFile(context, key)) === 'counted') missed += 1;
  }
  return missed;
}

/** The keys of the sums of all files from a day on. */
export function listCounts(context: Context, from: string): AsyncGenerator<string> {
  return listKeys(context, bucketName(), countPrefix, `${countPrefix}${from}`);
}

/** The nodes that a sum of 90 days is shown of, with the last day that counts, and when the last daily run ended. */
export interface CountedNodes {
  ended: string;
  lastDays: Record<string, string>;
}

const nodesKey = `${countPrefix}-nodes.json`;

export async function readCountedNodes(context: Context): Promise<CountedNodes> {
  const bytes = await readBytes(context, { Bucket: bucketName(), Key: nodesKey });
  return bytes ? JSON.parse(bytes.toString()) : { ended: '', lastDays: {} };
}

export function writeCountedNodes(context: Context, nodes: CountedNodes): Promise<void> {
  return putJson(context, { Bucket: bucketName(), Key: nodesKey }, JSON.stringify(nodes));
}

export async function addCounts(context: Context, key: string, counts: Counts): Promise<void> {
  const bytes = await readBytes(context, { Bucket: bucketName(), Key: key });
  const stored: [string, [string, [string, number][]][]][] = bytes ? JSON.parse(bytes.toString()) : [];
  for (const [nodeId, days] of stored)
    for (const [day, versions] of days)
      for (const [version, amount] of versions) addDownloads(counts, [nodeId, day, version], amount);
}
