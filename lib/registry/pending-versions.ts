import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { describeError, log } from '../log.ts';
import type { Beside, Once } from '../store/decide.ts';
import { always, type Changes, onRevision, Plus } from '../store/items.ts';
import { type Key, nodeKey, nodeVersionKey, pendingVersionKey, publishingKey } from '../store/keys.ts';
import { deleting, put, remove, updateOnce, updating, type Write } from '../store/write.ts';
import { dayOf, secondsLeft } from '../windows.ts';
import {
  historyOf,
  type NodeRecord,
  type NodeVersionRecord,
  type Operator,
  type PendingVersionRecord,
  type PublishingRecord,
  type PublisherRecord,
  pending,
} from './records.ts';

/*
 * The limits of a publisher. Its item counts its new nodes of the day, and each version that it began to
 * publish has a small record of its own, so a publish costs the same for any number of pending versions. Both
 * are read with the rest of a publish and written next to it, so they cost no time, and concurrent publishes
 * may exceed a limit together. Only created nodes count. A version's record is removed once its archive has
 * arrived. If that removal was lost, it happens when the limit is reached: then each version is looked up, so
 * the list can't drift from the truth for good. A full list is remembered for a minute, because the lookup is
 * expensive.
 */

/** A version of a node that a publisher began to publish. */
interface Begun {
  publisherId: string;
  nodeId: string;
  version: string;
}

/** Archives arrive at any time, so this is only when to look again. */
const pendingRetrySeconds = 60;

/** As many versions as may be pending, and some that no longer are. */
export function maxBegun(): number {
  return config.publishing().MAX_PENDING_VERSIONS + 100;
}

/** The versions to look up: all that were begun, if they are as many as may be pending. */
export function toLookUp(
  publishing: PublishingRecord | undefined,
  begun: readonly PendingVersionRecord[],
): Key[] {
  const isFull = begun.length >= config.publishing().MAX_PENDING_VERSIONS;
  if (!isFull || secondsFull(publishing) > 0) return [];
  return begun.map(({ version_pk, version_sk }) => ({ pk: version_pk, sk: version_sk }));
}

function secondsFull({ full_until = 0 }: Partial<PublishingRecord> = {}): number {
  return Math.ceil((full_until - Date.now()) / 1000);
}

/** How many new nodes a publisher may have in a day; undefined if there is no limit. */
export function newNodesADay({ new_nodes_per_day }: PublisherRecord): number | undefined {
  const limits = [config.publishing().MAX_NEW_NODES_PER_DAY || [], new_nodes_per_day ?? []].flat();
  return limits.length > 0 ? Math.min(...limits) : undefined;
}

/** The begun versions that are no longer pending, or the error if there is no room for another. */
export function roomFor(
  publishing: PublishingRecord | undefined,
  begun: readonly PendingVersionRecord[],
  lookedUp: readonly NodeVersionRecord[],
  nodesADay: number | undefined,
): { gone: PendingVersionRecord[] } | { error: ApiError; isFull?: true } {
  const { MAX_PENDING_VERSIONS } = config.publishing();
  const now = Date.now();
  const nodesToday = publishing?.[`nodes:${dayOf(now)}`] ?? 0;
  if (nodesADay !== undefined && nodesToday >= nodesADay) {
    const message = `A publisher can publish ${nodesADay} new nodes a day; try again after midnight UTC.`;
    return { error: tooMany(message, secondsLeft('day', now)) };
  }
  if (begun.length < MAX_PENDING_VERSIONS) return { gone: [] };
  const message = `${MAX_PENDING_VERSIONS} versions of this publisher wait for their archives; upload those first.`;
  const seconds = secondsFull(publishing);
  if (seconds > 0) return { error: tooMany(message, seconds) };
  const waiting = new Set(
    lookedUp.filter(({ status }) => status === pending).map((version) => pendingVersionKey('', version).sk),
  );
  if (waiting.size >= MAX_PENDING_VERSIONS)
    return { error: tooMany(message, pendingRetrySeconds), isFull: true };
  return { gone: begun.filter(({ sk }) => !waiting.has(sk)) };
}

export function isRecorded(begun: readonly PendingVersionRecord[], { pk, sk }: Key): boolean {
  return begun.some(({ version_pk, version_sk }) => version_pk === pk && version_sk === sk);
}

export async function recordPending(
  context: Context,
  { publisherId, nodeId, version }: Begun,
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
  { publisherId, nodeId, version }: Begun,
): Promise<void> {
  await forget(context, publisherId, pendingVersionKey(publisherId, nodeVersionKey(nodeId, version)));
}

/** What drops a version that no archive has come for: its label is free again. */
export function dropping(
  node: NodeRecord,
  version: NodeVersionRecord,
  { actor, detail }: { actor: string | Operator; detail: string | undefined },
  once: Once,
): { writes: Write[]; beside: Beside[] } {
  const subject = `${node.id} ${version.version}`;
  const begun = { publisherId: version.publisher_id, nodeId: node.id, version: version.version };
  return {
    writes: [
      deleting<NodeVersionRecord>(version, onRevision(version)),
      updating<NodeRecord>(node, { versions: new Plus(-1) }, onRevision(node)),
      historyOf(actor, { of: nodeKey(node.id), action: 'node-version drop', subject, detail }, once),
    ],
    beside: [(context) => forgetPending(context, begun)],
  };
}

export async function forget(context: Context, publisherId: string, record: Key): Promise<void> {
  await remove(context, record, always).catch(warn(publisherId));
}

/** Call once the node exists: of concurrent publishes of one new node, only one creates it. */
export async function countNewNode(context: Context, publisherId: string): Promise<void> {
  const now = Date.now();
  const yesterday = dayOf(now - 24 * 60 * 60 * 1000);
  const changes: Changes<PublishingRecord> = {};
  changes[`nodes:${yesterday}`] = null;
  changes[`nodes:${dayOf(now)}`] = new Plus(1);
  await change(context, publisherId, changes);
}

export function rememberFull(context: Context, publisherId: string): Promise<void> {
  return change(context, publisherId, { full_until: Date.now() + pendingRetrySeconds * 1000 });
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

/** A failure here leaves something uncounted, which later publishes tolerate. */
function warn(publisherId: string): (error: unknown) => void {
  return (error) => log('warn', 'publishing_limits', { publisher_id: publisherId, ...describeError(error) });
}

function tooMany(message: string, seconds: number): ApiError {
  return new ApiError('too_many_requests', { message, headers: { 'retry-after': String(seconds) } });
}
