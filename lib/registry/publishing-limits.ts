import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { always, type Changes, Plus } from '../store/items.ts';
import {
  type Key,
  nodeVersionKey,
  pendingVersionKey,
  pendingVersionsOf,
  publishingKey,
} from '../store/keys.ts';
import { queryPage, readAll } from '../store/read.ts';
import { put, remove, updateOnce } from '../store/write.ts';
import { dayOf, secondsLeft } from '../windows.ts';
import {
  nodeVersionRecord,
  pending,
  type PendingVersionRecord,
  pendingVersionRecord,
  type PublishingRecord,
} from './records.ts';

/*
 * A publisher's item counts its new nodes of the day, and each version that it began to publish has a small
 * record of its own, so a publish costs the same for any number of pending versions. Both are read with the
 * rest of a publish and written in parallel to it, so they cost no time, and concurrent publishes may exceed
 * a limit together. Only created nodes count. A version's record is removed once its archive has arrived. If
 * that removal was lost, it happens when the limit is reached: then each version is looked up, so the list
 * can't drift from the truth for good. A full list is remembered for a minute, because the lookup is
 * expensive.
 */

/** The additions of a publish. */
export interface Addition {
  publisherId: string;
  nodeId: string;
  version: string;
  isNewNode: boolean;
}

/** Archives arrive at any time, so this is only when to look again. */
const pendingRetrySeconds = 60;

/** The versions that a publisher began to publish: as many as may be pending, and some that no longer are. */
export async function readPendingVersions(
  context: Context,
  publisherId: string,
): Promise<PendingVersionRecord[]> {
  const { pk, sk } = pendingVersionsOf(publisherId);
  const limit = config.publishing().MAX_PENDING_VERSIONS + 100;
  const range = { partition: ['pk', pk], sort: ['sk', 'begins with', sk] } as const;
  return (await queryPage(context, range, { limit })).items.map((item) => pendingVersionRecord(item));
}

/** Throws if there is no room left. */
export async function requireRoom(
  context: Context,
  publishing: PublishingRecord | undefined,
  begun: readonly PendingVersionRecord[],
  { publisherId, isNewNode }: Addition,
): Promise<void> {
  const { MAX_PENDING_VERSIONS, MAX_NEW_NODES_PER_DAY } = config.publishing();
  const now = Date.now();
  const nodesToday = publishing?.[`nodes:${dayOf(now)}`] ?? 0;
  if (isNewNode && MAX_NEW_NODES_PER_DAY > 0 && nodesToday >= MAX_NEW_NODES_PER_DAY) {
    const message = `A publisher can publish ${MAX_NEW_NODES_PER_DAY} new nodes a day; try again after midnight UTC.`;
    throw tooMany(message, secondsLeft('day', now));
  }
  if (begun.length < MAX_PENDING_VERSIONS) return;
  const message = `${MAX_PENDING_VERSIONS} versions of this publisher wait for their archives; upload those first.`;
  const { full_until = 0 } = publishing ?? {};
  if (full_until > now) throw tooMany(message, Math.ceil((full_until - now) / 1000));
  const waiting = await findPending(context, begun);
  if (waiting.size >= MAX_PENDING_VERSIONS) {
    await change(context, publisherId, { full_until: now + pendingRetrySeconds * 1000 });
    throw tooMany(message, pendingRetrySeconds);
  }
  const gone = begun.filter(({ sk }) => !waiting.has(sk));
  await Promise.all(gone.map((record) => forget(context, publisherId, record)));
}

export function isRecorded(begun: readonly PendingVersionRecord[], { pk, sk }: Key): boolean {
  return begun.some(({ version_pk, version_sk }) => version_pk === pk && version_sk === sk);
}

export async function recordPending(
  context: Context,
  { publisherId, nodeId, version }: Addition,
): Promise<void> {
  const key = nodeVersionKey(nodeId, version);
  const record: PendingVersionRecord = {
    ...pendingVersionKey(publisherId, key),
    version_pk: key.pk,
    version_sk: key.sk,
    at: new Date().toISOString(),
  };
  await put(context, record, always).catch(warn(publisherId));
}

/** Call once a version's archive has arrived; repeated calls are harmless. */
export async function forgetPending(
  context: Context,
  { publisherId, nodeId, version }: Omit<Addition, 'isNewNode'>,
): Promise<void> {
  await forget(context, publisherId, pendingVersionKey(publisherId, nodeVersionKey(nodeId, version)));
}

/** Call once the node exists: of concurrent publishes of one new node, only one creates it. */
export async function countNewNode(context: Context, { publisherId }: Addition): Promise<void> {
  if (config.publishing().MAX_NEW_NODES_PER_DAY === 0) return;
  const now = Date.now();
  const yesterday = dayOf(now - 24 * 60 * 60 * 1000);
  const changes: Changes<PublishingRecord> = {};
  changes[`nodes:${yesterday}`] = null;
  changes[`nodes:${dayOf(now)}`] = new Plus(1);
  await change(context, publisherId, changes);
}

async function change(
  context: Context,
  publisherId: string,
  changes: Changes<PublishingRecord>,
): Promise<void> {
  await updateOnce<PublishingRecord>(context, publishingKey(publisherId), changes, always).catch(
    warn(publisherId),
  );
}

async function forget(context: Context, publisherId: string, record: Key): Promise<void> {
  await remove(context, record, always).catch(warn(publisherId));
}

/** A failure here leaves something uncounted, which later publishes tolerate. */
function warn(publisherId: string): (error: unknown) => void {
  return (error) => log('warn', 'publishing_limits', { publisher_id: publisherId, ...describeError(error) });
}

async function findPending(context: Context, begun: readonly PendingVersionRecord[]): Promise<Set<string>> {
  const keys = begun.map(({ version_pk, version_sk }) => ({ pk: version_pk, sk: version_sk }));
  const versions = await readAll(context, keys, { fields: ['pk', 'sk', 'status'] });
  return new Set(
    versions
      .map((item) => nodeVersionRecord(item))
      .filter(({ status }) => status === pending)
      .map((version) => pendingVersionKey('', version).sk),
  );
}

function tooMany(message: string, seconds: number): ApiError {
  return new ApiError('too_many_requests', { message, headers: { 'retry-after': String(seconds) } });
}
