import { isDeepStrictEqual } from 'node:util';
import { markDenied } from '../bucket/bucket.ts';
import type { Context } from '../context.ts';
import { type Beside, decide, type Found } from '../store/decide.ts';
import { type Changes, onRevision, withChanges } from '../store/items.ts';
import { nodeKey, nodeVersionKey, publisherKey } from '../store/keys.ts';
import { updating } from '../store/write.ts';
import { lanes, owe, timeText } from '../work/lanes.ts';
import { change, changeOf, changeVersion, changeVersions, existingNode } from './changes.ts';
import { owesAlignment } from './intents.ts';
import { showsLatest, versionWrites } from './node-versions.ts';
import { forgetPending, recordPending } from './pending-versions.ts';
import {
  type Changed,
  type NodeRecord,
  type NodeVersionRecord,
  nodeVersionRecord,
  type Operator,
  pending,
  type PublisherRecord,
  publisherRecord,
} from './records.ts';

/*
 * The states of a version as administrators change it; an upload moves it from pending to active:
 *
 *   active  -> flagged   and back by unflag    a warning: it can still be downloaded
 *   any     -> banned    and back by unban     no downloadUrl, no upload, never the latest version
 *
 * A version is banned by itself, with its node or with its publisher, and stays banned until the last of
 * these is lifted. A ban puts the fields that it removes aside, as `before_ban`, and lifting it restores
 * exactly those.
 *
 * A command changes one record, which then owes its alignment (alignment.ts): that of the versions, their archives and
 * the copies of those.
 */

const banned = 'NodeStatusBanned';

/** Stops updates of a node and its host nodes, new versions, and downloads of existing ones. Without a reason, ends that. */
export function setNodeBan(
  context: Context,
  operator: Operator,
  nodeId: string,
  reason: string | undefined,
): Promise<Changed<NodeRecord>> {
  const of = nodeKey(nodeId);
  return change(context, operator, { first: { item: of } }, ({ item }, { id }) => {
    const node = existingNode(item, nodeId);
    const changes = reason === undefined ? withoutBan(node) : withBan(node, reason);
    if (!changes) return { done: node };
    const all = { ...changes, ...owesAlignment(node, node.publisher_id, id) };
    const writes = [updating(node, all, onRevision(node))];
    return { change: { of, subject: node.id, ...entryOf('node', reason) }, writes, result: node };
  });
}

function entryOf(noun: 'node' | 'publisher', reason: string | undefined) {
  return reason === undefined ? { action: `${noun} unban` } : { action: `${noun} ban`, detail: reason };
}

function withBan({ status, status_detail }: NodeRecord, reason: string): Changes<NodeRecord> | undefined {
  const ban = { status: banned, status_detail: reason } as const;
  if (status !== banned) return { ...ban, before_ban: { status, status_detail } };
  return status_detail === reason ? undefined : ban;
}

function withoutBan({ status, before_ban }: NodeRecord): Changes<NodeRecord> | undefined {
  if (status !== banned) return undefined;
  return { status: 'NodeStatusActive', status_detail: null, ...before_ban, before_ban: null };
}

/** As many as a transaction of a second or two has. */
export const maxBannedAtOnce = 10;

/** Bans some versions of a node, and denies their archives at once. Returns those that exist. */
export async function banNodeVersions(
  context: Context,
  operator: Operator,
  nodeId: string,
  versions: readonly string[],
  reason: string,
): Promise<Changed<NodeVersionRecord>[]> {
  const entry = { action: 'node-version ban', detail: reason };
  const change = { nodeId, versions, entry, isAligned: true } as const;
  const banned = await changeVersions(context, operator, change, (current) =>
    bansTo(current, { ...current.bans, version: reason }),
  );
  // One by one they would wait for all others. What fails, or was deleted, is left to what follows.
  const keys = banned.flatMap(({ result, changed }) => (changed && result.archive_key) || []);
  if (keys.length > 1) await Promise.allSettled(keys.map((key) => markDenied(key, true)));
  return banned;
}

export function unbanNodeVersion(
  context: Context,
  operator: Operator,
  nodeId: string,
  version: string,
): Promise<Changed<NodeVersionRecord>> {
  const entry = { action: 'node-version unban' };
  return changeVersion(context, operator, { nodeId, version, entry, isAligned: true }, (current) => {
    const { version: _, ...bans } = current.bans ?? {};
    return bansTo(current, bans);
  });
}

type Bans = NonNullable<NodeVersionRecord['bans']>;

/** Undefined if it has exactly these bans. */
function bansTo(current: NodeVersionRecord, bans: Bans): Changes<NodeVersionRecord> | undefined {
  const { bans: before = {}, before_ban, status, status_reason, status_reason_code } = current;
  if (isDeepStrictEqual(before, bans)) return undefined;
  if (Object.keys(bans).length === 0)
    return {
      status_reason: null,
      status_reason_code: null,
      ...before_ban,
      // Its archive may be there already.
      ...(before_ban?.status === pending && owe('finalize', current, current.publisher_id, Date.now())),
      bans: null,
      before_ban: null,
    };
  return {
    ...banFields(bans),
    ...(status === pending && lookedAtLater(current)),
    before_ban: before_ban ?? { status, status_reason, status_reason_code },
  };
}

/**
 * A finalizer that runs may copy an archive after it was looked for, and die. So a version that waits for its archive is
 * looked at again once none can that didn't know the ban. An earlier message doesn't count.
 */
function lookedAtLater({ tries = 0 }: NodeVersionRecord): Changes<NodeVersionRecord> {
  return { pending_since: timeText(Date.now() + lanes.finalize.leaseSeconds * 1000), tries: tries + 1 };
}

const banCodes = { version: 'banned', node: 'node_banned', publisher: 'publisher_banned' } as const;

/** Of several bans, shows the one closest to the version. */
function banFields(bans: Bans): Changes<NodeVersionRecord> {
  const subject =
    (['version', 'node', 'publisher'] as const).find((name) => bans[name] !== undefined) ?? 'version';
  return {
    status: 'NodeVersionStatusBanned',
    status_reason: bans[subject] ?? '',
    status_reason_code: banCodes[subject],
    bans,
  };
}

/** Stops updates and new versions of a publisher, and downloads of all its published versions. Without a reason, ends that. */
export function setPublisherBan(
  context: Context,
  operator: Operator,
  publisherId: string,
  reason: string | undefined,
): Promise<Changed<PublisherRecord>> {
  const about = { publisherId, action: 'ban or unban publisher' as const };
  const isBan = reason !== undefined;
  return changeOf(context, operator, about, (publisher, _, { id }) => {
    const { banned = false, ban_reason } = publisher;
    if (banned === isBan && ban_reason === reason) return { done: publisher };
    const changes: Changes<PublisherRecord> = { banned: isBan || null, ban_reason: reason ?? null };
    const all = { ...changes, ...owesAlignment(publisher, publisher.id, id) };
    const writes = [updating(publisher, all, onRevision(publisher))];
    return {
      change: { of: publisher, subject: publisher.id, ...entryOf('publisher', reason) },
      writes,
      result: withChanges(publisher, changes),
    };
  });
}

/** With their node and the chosen one they stay below the 4 MB of a transaction. A page of large ones has fewer. */
export const maxAtOnce = 25;

/**
 * Gives a page of a node's versions its publisher, and the bans that follow from the state of both. Returns the sort key
 * after which the next page begins; undefined if there are none, or another decision was made. All of a node's may have 240 MB, so each is read once.
 * The publisher may change meanwhile; it then has its nodes aligned again.
 */
export function alignVersions(
  context: Context,
  { id: nodeId, intent }: NodeRecord,
  from: string | undefined,
): Promise<string | undefined> {
  const first = { node: nodeKey(nodeId) };
  const below = nodeVersionKey(nodeId, '');
  const after = from === undefined ? undefined : { ...below, sk: from };
  const following = (found: Found<typeof first>) => ({
    owner: publisherKey(existingNode(found.node, nodeId).publisher_id),
    versions: { below, after, limit: maxAtOnce },
  });
  return decide(context, { first, following }, (found) => {
    const [node, owner] = [existingNode(found.node, nodeId), publisherRecord(found.owner)];
    if (node.intent !== intent) return { result: undefined };
    if (!owner) throw new Error(`The publisher of "${nodeId}" is missing.`);
    const versions = found.versions.map((item) => nodeVersionRecord(item));
    const changed = versions.flatMap((before) => {
      const changes = alignedVersion(before, node, owner);
      return changes ? [{ before, changes }] : [];
    });
    const result = versions.at(-1)?.sk;
    if (changed.length === 0 && showsLatest(node, versions)) return { result };
    const writes = versionWrites(node, versions, changed, { aligned_to: result });
    const beside = changed.flatMap(({ before }) => moveBegun(before, node.publisher_id));
    return { writes, beside, result };
  });
}

/** Undefined if it is as its node and publisher are. */
function alignedVersion(
  version: NodeVersionRecord,
  { publisher_id, status, status_detail = '' }: NodeRecord,
  { banned: isBanned, ban_reason = '' }: PublisherRecord,
): Changes<NodeVersionRecord> | undefined {
  const wanted: Bans = {
    ...(version.bans?.version !== undefined && { version: version.bans.version }),
    ...(status === banned && { node: status_detail }),
    ...(isBanned && { publisher: ban_reason }),
  };
  const changes = bansTo(version, wanted);
  if (version.publisher_id === publisher_id) return changes;
  return { ...changes, publisher_id };
}

/** A version that waits for its archive counts among those of its new publisher. */
function moveBegun(
  { publisher_id, node_id: nodeId, version, status }: NodeVersionRecord,
  to: string,
): Beside[] {
  if (status !== pending || publisher_id === to) return [];
  const begun = { nodeId, version };
  return [
    (context) => recordPending(context, { ...begun, publisherId: to }),
    (context) => forgetPending(context, { ...begun, publisherId: publisher_id }),
  ];
}
