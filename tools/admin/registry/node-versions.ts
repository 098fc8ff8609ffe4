import { isDeepStrictEqual } from 'node:util';
import { readVersions, versionWrites } from '../../../lib/registry/latest-version.ts';
import {
  type BanSubject,
  type NodeRecord,
  type NodeVersionRecord,
  ownedNodeRecord,
  type PublisherRecord,
} from '../../../lib/registry/records.ts';
import { requirePublisher } from '../../../lib/registry/publishers.ts';
import { compareVersions, normalizeVersion } from 'registry-rules/version-label';
import { type Changes, onRevision, withChanges } from '../../../lib/store/items.ts';
import { nodeKey, ownedNodesOf, publisherKey } from '../../../lib/store/keys.ts';
import { get } from '../../../lib/store/read.ts';
import { untilWritten } from '../../../lib/store/retries.ts';
import { checking, transact } from '../../../lib/store/write.ts';
import { administerChange, type Changed, listHistory, listItems, newContext } from './administration.ts';
import { noSuchVersion, readNode } from './records.ts';
import { Rejection } from './rejection.ts';

/*
 * The states of a version as administrators move it; the way from pending to active is the upload's:
 *
 *   active  -> flagged   and back by unflag    a warning: it can still be downloaded
 *   any     -> banned    and back by unban     no downloadUrl, no upload, never the latest version
 *
 * A version is banned by itself, with its node or with its publisher, and stays banned until the last of these is
 * lifted. A ban puts aside what it takes away, as `before_ban`, and exactly that comes back.
 */

export async function listNodeVersions(nodeId: string): Promise<NodeVersionRecord[]> {
  await readNode(newContext(), nodeId);
  return (await readVersions(newContext(), nodeId)).sort((a, b) => compareVersions(b.version, a.version));
}

export function flagNodeVersion(
  nodeId: string,
  version: string,
  reason: string,
): Promise<Changed<NodeVersionRecord>> {
  return changeStatus(nodeId, version, { action: 'node-version flag', detail: reason }, (current) => {
    requirePublished(current, 'flagged');
    if (current.status === 'NodeVersionStatusFlagged' && current.status_reason === reason) return undefined;
    return { status: 'NodeVersionStatusFlagged', status_reason: reason, status_reason_code: 'flagged' };
  });
}

export function unflagNodeVersion(nodeId: string, version: string): Promise<Changed<NodeVersionRecord>> {
  return changeStatus(nodeId, version, { action: 'node-version unflag' }, (current) => {
    requirePublished(current, 'unflagged');
    if (current.status !== 'NodeVersionStatusFlagged') return undefined;
    return { status: 'NodeVersionStatusActive', status_reason: null, status_reason_code: null };
  });
}

/** Changes what a publisher may still say of a published version; undefined leaves a field as it is. */
export function editNodeVersion(
  nodeId: string,
  version: string,
  change: { action: string; detail?: string },
  fields: Pick<Changes<NodeVersionRecord>, 'deprecated' | 'changelog'>,
): Promise<Changed<NodeVersionRecord>> {
  return changeStatus(nodeId, version, change, (current) => {
    requirePublished(current, 'edited');
    return isDeepStrictEqual(withChanges(current, fields), current) ? undefined : fields;
  });
}

export function banNodeVersion(
  nodeId: string,
  version: string,
  reason: string,
  action: 'node-version ban' | 'takedown' = 'node-version ban',
): Promise<Changed<NodeVersionRecord>> {
  return changeStatus(nodeId, version, { action, detail: reason }, async (current) => {
    const changes = withBan(current, 'version', reason);
    // An auditor looks for takedowns, so one of a banned version is an edit without changes.
    if (changes || action === 'node-version ban' || (await isTakenDown(current, reason))) return changes;
    return {};
  });
}

async function isTakenDown({ node_id, version }: NodeVersionRecord, reason: string): Promise<boolean> {
  const last = (await listHistory(nodeKey(node_id))).find(
    ({ action, subject }) =>
      subject === `${node_id} ${version}` && ['takedown', 'node-version unban'].includes(action),
  );
  return last?.action === 'takedown' && last.detail === reason;
}

export function unbanNodeVersion(nodeId: string, version: string): Promise<Changed<NodeVersionRecord>> {
  return changeStatus(nodeId, version, { action: 'node-version unban' }, (current) =>
    withoutBan(current, 'version'),
  );
}

/** The ids of a publisher's nodes. */
export async function listOwnedNodes(publisherId: string): Promise<string[]> {
  const items = await listItems(ownedNodesOf(publisherId));
  return items.map((item) => ownedNodeRecord(item).node_id);
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

/** Of several bans, the one closest to the version is shown. */
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

function requirePublished({ status, node_id, version }: NodeVersionRecord, verb: string): void {
  if (status === 'NodeVersionStatusActive' || status === 'NodeVersionStatusFlagged') return;
  const state = status.replace('NodeVersionStatus', '').toLowerCase();
  throw new Rejection(
    `Version ${version} of "${node_id}" is ${state}; only active and flagged ones can be ${verb}.`,
  );
}

async function changeStatus(
  nodeId: string,
  version: string,
  change: { action: string; detail?: string },
  decide: (
    current: NodeVersionRecord,
  ) => Changes<NodeVersionRecord> | undefined | Promise<Changes<NodeVersionRecord> | undefined>,
): Promise<Changed<NodeVersionRecord>> {
  const normal = normalizeVersion(version);
  return administerChange(async (context) => {
    const node = await readNode(context, nodeId);
    const versions = await readVersions(newContext(), nodeId);
    const current = versions.find((each) => each.version === normal);
    if (!current) throw noSuchVersion(nodeId, version);
    const changes = await decide(current);
    if (!changes) return { done: current };
    return {
      change: { of: nodeKey(nodeId), subject: `${node.id} ${current.version}`, ...change },
      writes: versionWrites(node, versions, [{ before: current, changes }]),
      result: withChanges(current, changes),
    };
  });
}

/** With its node and the chosen one they stay below the 4 MB of a transaction. */
const maxAtOnce = 25;

/**
 * Bans the versions of a node, or lifts that, as the node or its publisher says by then: another administrator may decide
 * otherwise meanwhile. Returns how many it changed. After an interruption, run it again.
 */
export async function alignVersions(nodeId: string, subject: 'node' | 'publisher'): Promise<number> {
  for (let changed = 0; ; ) {
    const context = newContext();
    const { aligned } = await untilWritten(context, async () => {
      const node = await readNode(context, nodeId);
      const [item] = await get(context, publisherKey(node.publisher_id));
      const owner = requirePublisher(item);
      const reason = reasonOfBan(subject === 'node' ? node : owner);
      const versions = await readVersions(context, nodeId);
      const others = versions.flatMap((before) => {
        const changes = reason === undefined ? withoutBan(before, subject) : withBan(before, subject, reason);
        return changes ? [{ before, changes }] : [];
      });
      if (others.length === 0) return { aligned: 0 };
      const some = others.slice(0, maxAtOnce);
      const failed = await transact(context, [
        ...versionWrites(node, versions, some),
        ...(subject === 'publisher' ? [checking<PublisherRecord>(owner, onRevision(owner))] : []),
      ]);
      return failed.length === 0 ? { aligned: some.length } : undefined;
    });
    if (aligned === 0) return changed;
    changed += aligned;
  }
}

/** Undefined for what is not banned. */
function reasonOfBan(banning: NodeRecord | PublisherRecord): string | undefined {
  if ('publisher_id' in banning)
    return banning.status === 'NodeStatusBanned' ? (banning.status_detail ?? '') : undefined;
  return banning.banned && (banning.ban_reason ?? '');
}
