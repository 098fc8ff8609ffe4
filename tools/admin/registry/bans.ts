import { versionWrites } from '../../../lib/registry/node-versions.ts';
import {
  type BanSubject,
  type HistoryRecord,
  type NodeRecord,
  nodeRecord,
  type NodeVersionRecord,
  nodeVersionRecord,
  type PublisherRecord,
  publisherRecord,
} from '../../../lib/registry/records.ts';
import { decide } from '../../../lib/store/decide.ts';
import { type Changes, type Item, onRevision } from '../../../lib/store/items.ts';
import { nodeKey, nodeVersionKey, publisherKey } from '../../../lib/store/keys.ts';
import { checking, updating } from '../../../lib/store/write.ts';
import {
  administer,
  type Changed,
  changeStatus,
  listHistory,
  listOwnedNodes,
  newContext,
  nodeIn,
  Rejection,
} from './administration.ts';
import { changePublisher, type PublisherChange } from './publishers.ts';

/*
 * The states of a version as administrators change it; an upload moves it from pending to active:
 *
 *   active  -> flagged   and back by unflag    a warning: it can still be downloaded (node-versions.ts)
 *   any     -> banned    and back by unban     no downloadUrl, no upload, never the latest version
 *
 * A version is banned by itself, with its node or with its publisher, and stays banned until the last of
 * these is lifted. A ban puts the fields that it removes aside, as `before_ban`, and lifting it restores
 * exactly those.
 */

const banned = 'NodeStatusBanned';
const ban = (reason: string) => ({ status: banned, status_detail: reason }) as const;

/**
 * Stops updates of a node and its host nodes, new versions, and the downloads of existing ones. Returns
 * whether this changed something.
 */
export async function banNode(actor: string, nodeId: string, reason: string): Promise<boolean> {
  const change = { action: 'node ban', detail: reason };
  const changed = await changeNodeStatus(actor, nodeId, change, ({ status, status_detail }) => {
    if (status !== banned) return { ...ban(reason), before_ban: { status, status_detail } };
    return status_detail === reason ? undefined : ban(reason);
  });
  return (await alignVersions(nodeId, 'node')) > 0 || changed;
}

export async function unbanNode(actor: string, nodeId: string): Promise<boolean> {
  const changed = await changeNodeStatus(actor, nodeId, { action: 'node unban' }, ({ status, before_ban }) =>
    status === banned
      ? { status: 'NodeStatusActive', status_detail: null, ...before_ban, before_ban: null }
      : undefined,
  );
  return (await alignVersions(nodeId, 'node')) > 0 || changed;
}

async function changeNodeStatus(
  actor: string,
  nodeId: string,
  change: { action: string; detail?: string },
  decision: (node: NodeRecord) => Changes<NodeRecord> | undefined,
): Promise<boolean> {
  const of = nodeKey(nodeId);
  const { changed } = await administer(actor, { first: [of] }, ([item]) => {
    const node = nodeIn(item, nodeId);
    const changes = decision(node);
    if (!changes) return { done: node };
    const writes = [updating<NodeRecord>(node, changes, onRevision(node))];
    return { change: { of, subject: node.id, ...change }, writes, result: node };
  });
  return changed;
}

export function banNodeVersion(
  actor: string,
  nodeId: string,
  version: string,
  reason: string,
  action: 'node-version ban' | 'takedown' = 'node-version ban',
): Promise<Changed<NodeVersionRecord>> {
  return changeStatus(actor, nodeId, version, { action, detail: reason }, (current, history) => {
    const changes = withBan(current, 'version', reason);
    // Auditors search for takedowns, so a takedown of a banned version is an edit without changes.
    if (changes || action === 'node-version ban' || isTakenDown(current, history, reason)) return changes;
    return {};
  });
}

function isTakenDown(
  { node_id, version }: NodeVersionRecord,
  history: readonly HistoryRecord[],
  reason: string,
): boolean {
  const last = history.find(
    ({ action, subject }) =>
      subject === `${node_id} ${version}` && ['takedown', 'node-version unban'].includes(action),
  );
  return last?.action === 'takedown' && last.detail === reason;
}

export function unbanNodeVersion(
  actor: string,
  nodeId: string,
  version: string,
): Promise<Changed<NodeVersionRecord>> {
  return changeStatus(actor, nodeId, version, { action: 'node-version unban' }, (current) =>
    withoutBan(current, 'version'),
  );
}

function withBan(
  current: NodeVersionRecord,
  subject: BanSubject,
  reason: string,
): Changes<NodeVersionRecord> | undefined {
  if (current.bans?.[subject] === reason) return undefined;
  const { status, status_reason, status_reason_code, pending_shard, pending_since } = current;
  return {
    ...banFields({ ...current.bans, [subject]: reason }),
    pending_shard: null,
    pending_since: null,
    // The finalizer that checks its archive finds the ban, and then no claim to give back.
    checked_by: null,
    checked_until: null,
    before_ban: current.before_ban ?? {
      status,
      ...(status_reason !== undefined && { status_reason, status_reason_code }),
      ...(pending_shard !== undefined && { pending_shard }),
      ...(pending_since !== undefined && { pending_since }),
    },
  };
}

function withoutBan(current: NodeVersionRecord, subject: BanSubject): Changes<NodeVersionRecord> | undefined {
  if (current.bans?.[subject] === undefined) return undefined;
  const { [subject]: _, ...bans } = current.bans;
  if (Object.keys(bans).length > 0) return banFields(bans);
  return {
    status_reason: null,
    status_reason_code: null,
    ...current.before_ban,
    // Sweeps look back for some hours, and a ban may last longer.
    ...(current.before_ban?.pending_since && { pending_since: new Date().toISOString() }),
    bans: null,
    before_ban: null,
  };
}

const banCodes = { version: 'banned', node: 'node_banned', publisher: 'publisher_banned' } as const;

/** Of several bans, shows the one closest to the version. */
function banFields(bans: NonNullable<NodeVersionRecord['bans']>): Changes<NodeVersionRecord> {
  const subject =
    (['version', 'node', 'publisher'] as const).find((name) => bans[name] !== undefined) ?? 'version';
  return {
    status: 'NodeVersionStatusBanned',
    status_reason: bans[subject] ?? '',
    status_reason_code: banCodes[subject],
    bans,
  };
}

/** With its node and the chosen one they stay below the 4 MB of a transaction. */
const maxAtOnce = 25;

/**
 * Bans the versions of a node, or lifts that, by the current state of the node or its publisher: another
 * administrator may decide otherwise meanwhile. Returns how many it changed. After an interruption, run it
 * again.
 */
async function alignVersions(nodeId: string, subject: 'node' | 'publisher'): Promise<number> {
  const first = [nodeKey(nodeId)] as const;
  const following = (node: Item | undefined) =>
    [node && publisherKey(nodeRecord(node).publisher_id), { below: nodeVersionKey(nodeId, '') }] as const;
  for (let changed = 0; ; ) {
    const aligned = await decide(newContext(), { first, following }, ([nodeItem, ownerItem, items]) => {
      const [node, owner] = [nodeIn(nodeItem, nodeId), publisherRecord(ownerItem)];
      if (!owner) throw new Rejection(`There is no publisher "${node.publisher_id}".`);
      const reason = reasonOfBan(subject === 'node' ? node : owner);
      const versions = items.map((item) => nodeVersionRecord(item));
      const others = versions.flatMap((before) => {
        const changes = reason === undefined ? withoutBan(before, subject) : withBan(before, subject, reason);
        return changes ? [{ before, changes }] : [];
      });
      if (others.length === 0) return { result: 0 };
      const some = others.slice(0, maxAtOnce);
      const isOwned = subject === 'publisher' && checking<PublisherRecord>(owner, onRevision(owner));
      const writes = versionWrites(node, versions, some);
      return { writes: isOwned ? [...writes, isOwned] : writes, result: some.length };
    });
    if (aligned === 0) return changed;
    changed += aligned;
  }
}

/** Undefined if it isn't banned. */
function reasonOfBan(banning: NodeRecord | PublisherRecord): string | undefined {
  if ('publisher_id' in banning)
    return banning.status === 'NodeStatusBanned' ? (banning.status_detail ?? '') : undefined;
  return banning.banned && (banning.ban_reason ?? '');
}

interface Ban extends Changed<PublisherRecord> {
  /** The nodes whose versions followed it. */
  nodeIds: string[];
}

/** Stops updates and new versions of a publisher, and the downloads of all its published versions. */
export function banPublisher(actor: string, publisherId: string, reason: string): Promise<Ban> {
  const change = { action: 'publisher ban', subject: publisherId, detail: reason };
  return changeBan(actor, publisherId, change, ({ banned, ban_reason }) =>
    banned && ban_reason === reason ? undefined : { banned: true, ban_reason: reason },
  );
}

export function unbanPublisher(actor: string, publisherId: string): Promise<Ban> {
  const change = { action: 'publisher unban', subject: publisherId };
  return changeBan(actor, publisherId, change, ({ banned }) =>
    banned ? { banned: null, ban_reason: null } : undefined,
  );
}

async function changeBan(actor: string, publisherId: string, ...change: PublisherChange): Promise<Ban> {
  const { result, changed } = await changePublisher(actor, publisherId, ...change);
  // A node that has moved on may carry unfinished work of an earlier run.
  const moved = (await listHistory(publisherKey(publisherId))).filter(
    ({ action }) => action === 'node transfer',
  );
  const nodeIds = [
    ...new Set([...moved.map(({ subject }) => subject), ...(await listOwnedNodes(publisherId))]),
  ];
  let versions = 0;
  for (const nodeId of nodeIds) versions += await alignVersions(nodeId, 'publisher');
  return { result, changed: changed || versions > 0, nodeIds };
}
