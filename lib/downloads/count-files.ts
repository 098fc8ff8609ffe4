import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { bucketName, deleteAt, listKeys, putJson, readBytes } from '../bucket/bucket.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { publishedKeyOf } from '../bucket/object-keys.ts';
import { foldNodeId } from '@node-registry/registry-rules/names';

/*
 * The sum of a log file is an object of its own, named after the file, so a file is counted only once even if
 * its event is repeated:
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

interface CountedFile {
  outcome: 'counted' | 'missing' | 'unknown';
  /** What its requests were sent, whatever they asked for. */
  download_bytes?: number;
}

/** Writes the sum of a log file. A file that was counted before may be gone. */
export async function countFile(context: Context, logKey: string): Promise<CountedFile> {
  const Key = countKeyOf(logKey);
  if (Key === undefined) return { outcome: 'unknown' };
  const { LOG_BUCKET_NAME, ACCESS_LOGS } = config.downloadLogs();
  const log = { Bucket: LOG_BUCKET_NAME, Key: logKey };
  const bytes = await readBytes(context, log);
  if (bytes === undefined) return { outcome: 'missing' };
  const text = (await unzip(bytes)).toString();
  const counts = countDownloads(text);
  const Body = JSON.stringify(
    [...counts].map(([id, days]) => [id, [...days].map(([day, v]) => [day, [...v]])]),
  );
  await putJson(context, { Bucket: bucketName(), Key }, Body);
  // It contains IP addresses of people.
  if (ACCESS_LOGS !== 'on') await deleteAt(context, log);
  return { outcome: 'counted', download_bytes: sentBytes(text) };
}

/** Counts the files whose events were lost. */
export async function countMissed(context: Context, from: string): Promise<number> {
  const counted = new Set(await Array.fromAsync(listCounts(context, from)));
  let missed = 0;
  for await (const key of listKeys(context, config.downloadLogs().LOG_BUCKET_NAME, logPrefix)) {
    const countKey = countKeyOf(key);
    if (countKey === undefined || counted.has(countKey) || countKey < `${countPrefix}${from}`) continue;
    if ((await countFile(context, key)).outcome === 'counted') missed += 1;
  }
  return missed;
}

export function listCounts(context: Context, from: string): AsyncGenerator<string> {
  return listKeys(context, bucketName(), countPrefix, `${countPrefix}${from}`);
}

/** The nodes that show a 90-day sum, with the last day that counts, and when the last daily run ended. */
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

/** Downloads by node (folded id), UTC day and version. */
export type Counts = Map<string, Map<string, Map<string, number>>>;

/** User agents with one of these words are crawlers, whose downloads don't count. */
const crawlers = /bot\b|bot\/|crawl|spider|slurp/i;

/** Less is a download only if it is the whole archive: a client may ask for each byte on its own. */
const minPartBytes = 64 * 1024;

/**
 * Counts the downloads in a standard log of the distribution: each GET of an archive with the status 200 or
 * 206 that started at the first byte, and brought the whole or 64 KiB of it. The log names its fields.
 */
export function countDownloads(text: string): Counts {
  const counts: Counts = new Map();
  for (const field of requestsIn(text)) {
    if (field('cs-method') !== 'GET' || !['200', '206'].includes(field('sc-status'))) continue;
    if (!['-', '0'].includes(field('sc-range-start')) || crawlers.test(field('cs(User-Agent)'))) continue;
    const [bytes, length] = [Number(field('sc-bytes')), Number(field('sc-content-len'))];
    const isWhole = field('sc-status') === '200' && bytes >= length;
    if (!isWhole && !(bytes >= minPartBytes)) continue;
    const day = field('date');
    const archive = archiveAt(field('cs-uri-stem'));
    if (archive && /^\d{4}-\d\d-\d\d$/.test(day))
      addDownloads(counts, [foldNodeId(archive.nodeId), day, archive.version], 1);
  }
  return counts;
}

function sentBytes(text: string): number {
  let bytes = 0;
  for (const field of requestsIn(text)) bytes += Number(field('sc-bytes')) || 0;
  return bytes;
}

/** The fields of each request in a log, by their names. */
function* requestsIn(text: string): Generator<(name: string) => string> {
  let fields: string[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('#Fields:')) fields = line.slice('#Fields:'.length).trim().split(/\s+/);
    if (line.startsWith('#') || line === '') continue;
    const values = line.split('\t');
    yield (name) => values[fields.indexOf(name)] ?? '-';
  }
}

function addDownloads(
  counts: Counts,
  [nodeId, day, version]: [nodeId: string, day: string, version: string],
  amount: number,
): void {
  const days = counts.get(nodeId) ?? new Map<string, Map<string, number>>();
  const versions = days.get(day) ?? new Map<string, number>();
  counts.set(nodeId, days.set(day, versions.set(version, (versions.get(version) ?? 0) + amount)));
}

function archiveAt(stem: string) {
  try {
    return publishedKeyOf(decodeURIComponent(stem.slice(1)));
  } catch {
    // A client may request a path with any bytes.
    return undefined;
  }
}
