import { movedTo, requirePublisher } from '../../../lib/registry/publishers.ts';
import { forgetPending, recordPending } from '../../../lib/registry/publishing-limits.ts';
import { pending } from '../../../lib/registry/node-versions.ts';
import { readVersions } from '../../../lib/registry/chosen-latest.ts';
import {
  type CredentialRecord,
  credentialRecord,
  type Member,
  type NodeRecord,
  type NodeVersionRecord,
  nodeVersionRecord,
  type OwnedNodeRecord,
  type PublisherRecord,
} from '../../../lib/registry/records.ts';
import { absent, onRevision } from '../../../lib/store/items.ts';
import { type Key, nodeKey, nodeVersionKey, ownedNodeKey, publisherKey } from '../../../lib/store/keys.ts';
import { get } from '../../../lib/store/read.ts';
import { untilWritten } from '../../../lib/store/retries.ts';
import { deleting, putting, transact, update, updating } from '../../../lib/store/write.ts';
import { administerChange, historyOf, listItems, newContext } from './administration.ts';
import { listOwnedNodes } from './node-versions.ts';
import { readNode, readPublisher } from './records.ts';
import { Rejection } from './rejection.ts';

/*
 * Nodes and publishers change hands. Each step is one conditional write that finds out by itself whether it is done, so an
 * interrupted command is run again as a whole. What becomes of what:
 *
 *   members    of a merged publisher join the other one, owners as owners. A transferred node brings none
 *   tokens     and trusts of a merged publisher are the other one's, under their ids. A transferred node brings none, so a
 *              version that waits for its archive is not published by them any more; its new owner resumes it
 *   old id     is reserved for good, and for 90 days endpoints 2 and 3 take it as the new one
 */

/** Gives a node to another publisher. False if it had it already. */
export async function transferNode(nodeId: string, to: string): Promise<boolean> {
  const { changed } = await administerChange(async (context) => {
    const node = await readNode(context, nodeId);
    const publisher = await readPublisher(context, to);
    if (node.publisher_id === to) return { done: node };
    const [item] = await get(context, publisherKey(node.publisher_id));
    if (publisher.banned || requirePublisher(item).banned)
      throw new Rejection('A publisher is banned: lift the ban first, or its versions would stay banned.');
    const owned: OwnedNodeRecord = {
      ...ownedNodeKey(to, node.id),
      node_id: node.id,
      created_at: node.created_at,
    };
    const change = { action: 'node transfer', subject: node.id, detail: `${node.publisher_id} to ${to}` };
    return {
      change: { of: nodeKey(nodeId), ...change },
      writes: [
        updating<NodeRecord>(node, { publisher_id: to }, onRevision(node)),
        putting(owned, absent),
        deleting(ownedNodeKey(node.publisher_id, node.id)),
        historyOf({ of: publisherKey(node.publisher_id), ...change }),
        historyOf({ of: publisherKey(to), ...change }),
      ],
      result: node,
    };
  });
  await moveVersions(nodeId, to);
  return changed;
}

async function moveVersions(nodeId: string, to: string): Promise<void> {
  for (const { version } of await readVersions(newContext(), nodeId)) await moveVersion(nodeId, version, to);
}

async function moveVersion(nodeId: string, version: string, to: string): Promise<void> {
  const context = newContext();
  await untilWritten(context, async () => {
    const [item] = await get(context, nodeVersionKey(nodeId, version));
    const current = nodeVersionRecord(item);
    if (!current || current.publisher_id === to) return true;
    if (current.status === pending)
      await recordPending(context, { publisherId: to, nodeId, version, isNewNode: false });
    const changes = { publisher_id: to };
    const { written } = await update<NodeVersionRecord>(context, current, changes, onRevision(current));
    if (!written) return undefined;
    await forgetPending(context, { publisherId: current.publisher_id, nodeId, version });
    return true;
  });
}

/** Gives a publisher another id. */
export async function renamePublisher(from: string, to: string): Promise<void> {
  const old = await readEither(from, to);
  const key = publisherKey(to);
  const { pk: _pk, sk: _sk, moved_to: _to, moved_at: _at, ...fields } = old;
  const renamed: PublisherRecord = { ...fields, ...key, id: to, renamed_from: from, revision: 1 };
  const created = historyOf({ of: key, action: 'publisher rename', subject: to, detail: `${from} to ${to}` });
  const [failed] = await transact(newContext(), [putting(renamed, absent), created]);
  if (failed !== undefined && (await readPublisher(newContext(), to)).renamed_from !== from)
    throw new Rejection(`There is a publisher "${to}" already: use publisher merge to make one of both.`);
  await move(from, to, 'publisher rename');
}

/** Makes one publisher of two. The first one's id then means the second. */
export async function mergePublisher(from: string, to: string): Promise<void> {
  await readEither(from, to);
  await readPublisher(newContext(), to);
  await move(from, to, 'publisher merge');
}

/** The publisher that is given up, before or in the middle of that. */
async function readEither(from: string, to: string): Promise<PublisherRecord> {
  if (from === to) throw new Rejection('Both ids are the same.');
  const [item] = await get(newContext(), publisherKey(from));
  if (!item) throw new Rejection(`There is no publisher "${from}".`);
  const publisher = requirePublisher(item);
  const now = movedTo(item, from);
  if (now !== undefined && now !== to) throw new Rejection(`The publisher "${from}" is "${now}" now.`);
  if (publisher.banned) throw new Rejection(`The publisher "${from}" is banned: lift the ban first.`);
  return publisher;
}

async function move(from: string, to: string, action: string): Promise<void> {
  await joinMembers(from, to);
  await moveCredentials(from, to);
  for (const nodeId of await listOwnedNodes(from)) await transferNode(nodeId, to);
  const change = { action, subject: from, detail: `${from} to ${to}` };
  await administerChange(async (context) => {
    const [item] = await get(context, publisherKey(from));
    const publisher = requirePublisher(item);
    if (publisher.moved_to !== undefined) return { done: publisher };
    const moved = { moved_to: to, moved_at: new Date().toISOString(), members: {} };
    return {
      change: { of: publisherKey(from), ...change },
      writes: [
        updating<PublisherRecord>(publisher, moved, onRevision(publisher)),
        historyOf({ of: publisherKey(to), ...change }),
      ],
      result: publisher,
    };
  });
  // What was made under the old id meanwhile.
  await moveCredentials(from, to);
  for (const nodeId of await listOwnedNodes(from)) await transferNode(nodeId, to);
  // An interrupted run may have moved a node without its versions.
  for (const nodeId of await listOwnedNodes(to)) await moveVersions(nodeId, to);
}

async function joinMembers(from: string, to: string): Promise<void> {
  await administerChange(async (context) => {
    const [old, publisher] = (await get(context, publisherKey(from), publisherKey(to))).map(requirePublisher);
    if (!old || !publisher) throw new Rejection('A publisher is gone.');
    const joining = Object.entries(old.members).filter(([user, { role }]) => {
      const known = publisher.members[user];
      return !known || (role === 'owner' && known.role !== 'owner');
    });
    if (joining.length === 0) return { done: publisher };
    const members: Record<string, Member> = { ...publisher.members, ...Object.fromEntries(joining) };
    return {
      change: { of: publisherKey(to), action: 'member add', subject: from, detail: 'all members' },
      writes: [updating<PublisherRecord>(publisher, { members }, onRevision(publisher))],
      result: publisher,
    };
  });
}

async function moveCredentials(from: string, to: string): Promise<void> {
  const { pk } = publisherKey(from);
  for (const kind of ['TOKEN#', 'TRUST#'])
    for (const { sk } of await listItems({ pk, sk: kind })) await moveCredential({ pk, sk: String(sk) }, to);
}

/** In one step, or one that is revoked meanwhile would live on as its copy. */
function moveCredential(key: Key, to: string): Promise<true> {
  const context = newContext();
  return untilWritten(context, async () => {
    const [item] = await get(context, key);
    if (!item) return true;
    const record = credentialRecord(item);
    const moved = { ...record, pk: publisherKey(to).pk };
    const failed = await transact(context, [
      putting<CredentialRecord>(moved, absent),
      deleting<CredentialRecord>(key, onRevision(record)),
    ]);
    return failed.length === 0 || undefined;
  });
}
