import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { type Changes, type Condition, Plus } from '../store/expressions.ts';
import { type Key, keyOf, nodeVersionKey, publishingKey } from '../store/keys.ts';
import { readBatches } from '../store/read.ts';
import { update } from '../store/write.ts';
import { dayOf, secondsLeft } from '../windows.ts';
import { nodeVersionRecord, type PublishingRecord } from './records.ts';

/*
 * A publisher's item counts its new nodes of the day, and names the versions that it began to publish. It is read
 * with the rest of a publish and written next to it, so it costs no time, and of publishes that run at once some may
 * pass a limit together. Only a node that was made is counted. No name is removed when its archive arrives: once there
 * are as many as may be pending, each is looked up, and those that are not pending any more go. So the list cannot
 * drift from the truth for good. That there is no room is remembered for a minute: looking costs much.
 */

const always: Condition<Key> = { anyOf: [[['pk', 'absent']], [['pk', 'exists']]] };

/** What a publish adds. */
export interface Addition {
  publisherId: string;
  nodeId: string;
  version: string;
  isNewNode: boolean;
}

/** Archives arrive at any time, so this is only when to look again. */
const pendingRetrySeconds = 60;

/** DynamoDB takes 4 KB of an expression; what is left of the names goes with the next publish. */
const maxNamesPerWrite = 100;

/** Names that are not pending any more; an error where there is no room. */
export async function requireRoom(
  context: Context,
  publishing: PublishingRecord | undefined,
  { publisherId, isNewNode }: Addition,
): Promise<string[]> {
  if (!publishing) return [];
  const { MAX_PENDING_VERSIONS, MAX_NEW_NODES_PER_DAY } = config.publishing();
  const now = Date.now();
  const nodesToday = publishing[`nodes:${dayOf(now)}`] ?? 0;
  if (isNewNode && MAX_NEW_NODES_PER_DAY > 0 && nodesToday >= MAX_NEW_NODES_PER_DAY) {
    const message = `A publisher can publish ${MAX_NEW_NODES_PER_DAY} new nodes a day; try again after midnight UTC.`;
    throw tooMany(message, secondsLeft('day', now));
  }
  const listed = Object.keys(publishing).filter((name) => name.startsWith('pending:'));
  if (listed.length < MAX_PENDING_VERSIONS) return [];
  const message = `${MAX_PENDING_VERSIONS} versions of this publisher wait for their archives; upload those first.`;
  const { full_until = 0 } = publishing;
  if (full_until > now) throw tooMany(message, Math.ceil((full_until - now) / 1000));
  const pending = await findPending(context, listed);
  if (pending.size >= MAX_PENDING_VERSIONS) {
    await change(context, publisherId, { full_until: now + pendingRetrySeconds * 1000 });
    throw tooMany(message, pendingRetrySeconds);
  }
  return listed.filter((name) => !pending.has(name)).slice(0, maxNamesPerWrite);
}

/** Notes the version that a publish adds; `gone` are names that go. */
export async function noteVersion(
  context: Context,
  { publisherId, nodeId, version }: Addition,
  gone: readonly string[],
): Promise<void> {
  const { pk } = nodeVersionKey(nodeId, version);
  const changes: Changes<PublishingRecord> = Object.fromEntries(gone.map((name) => [name, null]));
  changes[`pending:${version}:${pk}`] = new Date().toISOString();
  await change(context, publisherId, changes);
}

/** To be called once the node is there: of publishes of one new node at once, only one makes it. */
export async function countNewNode(context: Context, { publisherId }: Addition): Promise<void> {
  const now = Date.now();
  const yesterday = dayOf(now - 24 * 60 * 60 * 1000);
  const changes: Changes<PublishingRecord> = {};
  changes[`nodes:${yesterday}`] = null;
  changes[`nodes:${dayOf(now)}`] = new Plus(1);
  await change(context, publisherId, changes);
}

/** What fails here is not counted, which the next publish survives. */
async function change(
  context: Context,
  publisherId: string,
  changes: Changes<PublishingRecord>,
): Promise<void> {
  await update<PublishingRecord>(context, publishingKey(publisherId), changes, always).catch(
    (error: unknown) =>
      log('warn', 'publishing_limits', { publisher_id: publisherId, ...describeError(error) }),
  );
}

async function findPending(context: Context, names: readonly string[]): Promise<Set<string>> {
  const byPartition = new Map(names.map((name) => [name, keyNamed(name)]));
  const pending = new Set<string>();
  const fields = ['pk', 'sk', 'status'];
  for await (const { items, unread } of readBatches(context, [...byPartition.values()], { fields })) {
    if (unread.length > 0) throw new ApiError('unavailable');
    for (const version of items.map((item) => nodeVersionRecord(item))) {
      if (version.status === 'NodeVersionStatusPending') pending.add(nameOf(version));
    }
  }
  return pending;
}

function nameOf({ pk, sk }: Key): string {
  return `pending:${sk.slice('VERSION#'.length)}:${pk}`;
}

function keyNamed(name: string): Key {
  const [, version, pk] = name.split(':');
  return keyOf({ pk, sk: `VERSION#${version}` });
}

function tooMany(message: string, seconds: number): ApiError {
  return new ApiError('too_many_requests', { message, headers: { 'retry-after': String(seconds) } });
}
