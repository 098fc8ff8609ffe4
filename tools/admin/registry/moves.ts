import { movedTo, requirePublisher } from '../../../lib/registry/publishers.ts';
import { forgetPending, recordPending } from '../../../lib/registry/publishing-limits.ts';
import {
  type CredentialRecord,
  credentialRecord,
  type Member,
  type NodeRecord,
  type NodeVersionRecord,
  nodeVersionRecord,
  type OwnedNodeRecord,
  pending,
  type PublisherRecord,
  publisherRecord,
} from '../../../lib/registry/records.ts';
import { requireNode } from '../../../lib/registry/nodes.ts';
import { readVersions } from '../../../lib/registry/node-versions.ts';
import { absent, always, onRevision } from '../../../lib/store/items.ts';
import { type Key, nodeKey, nodeVersionKey, ownedNodeKey, publisherKey } from '../../../lib/store/keys.ts';
import { get } from '../../../lib/store/read.ts';
import { untilWritten } from '../../../lib/store/dynamodb.ts';
import { checking, deleting, putting, transact, updating } from '../../../lib/store/write.ts';
import {
  administerChange,
  adminHistory,
  listItems,
  listOwnedNodes,
  newContext,
  readNode,
  readPublisher,
  Rejection,
} from './administration.ts';

/*
 * Nodes and publishers change hands. Each step is one conditional write that detects whether it is already
 * done, so an interrupted command is run again as a whole. The results:
 *
 *   members    of a merged publisher join the other one at its end, owners as owners. A transferred node brings none
 *   tokens     and trusts of a merged publisher move to the other one, under their ids. A transferred node brings none,
 *              so they no longer publish a version that waits for its archive; its new owner resumes it
 *   old id     is reserved for good; for 90 days endpoints 2 and 3 accept it for the new one
 */

/** Gives a node to another publisher. False if that publisher already had it. */
export async function transferNode(nodeId: string, to: string): Promise<boolean> {
  const { changed } = await administerChange(async (context) => {
    const node = await readNode(context, nodeId);
    const publisher = await readPublisher(context, to);
    if (node.publisher_id === to) return { done: node };
    const [item] = await get(context, publisherKey(node.publisher_id));
    const owner = requirePublisher(item);
    if (publisher.banned || owner.banned)
      throw new Rejection('A publisher is banned: lift the ban first, or its versions would stay banned.');
    if ((await readVersions(newContext(), nodeId)).some(({ bans }) => bans?.publisher !== undefined))
      throw new Rejection(
        `Versions of "${node.id}" are still banned: run publisher unban ${owner.id} first.`,
      );
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
        checking<PublisherRecord>(owner, onRevision(owner)),
        checking<PublisherRecord>(publisher, [
          ['banned', 'absent'],
          ['moved_to', 'absent'],
        ]),
        putting(owned, absent),
        deleting(ownedNodeKey(node.publisher_id, node.id), always),
        adminHistory({ of: publisherKey(node.publisher_id), ...change }),
        adminHistory({ of: publisherKey(to), ...change }),
      ],
      result: node,
    };
  });
  await moveVersions(nodeId);
  return changed;
}

async function moveVersions(nodeId: string): Promise<void> {
  for (const { version } of await readVersions(newContext(), nodeId)) await moveVersion(nodeId, version);
}

/** To the current owner of the node: another administrator may transfer it meanwhile. */
async function moveVersion(nodeId: string, version: string): Promise<void> {
  const context = newContext();
  await untilWritten(context, async () => {
    const [nodeItem, item] = await get(context, nodeKey(nodeId), nodeVersionKey(nodeId, version));
    const { publisher_id } = requireNode(nodeItem, nodeId);
    const current = nodeVersionRecord(item);
    if (!current || current.publisher_id === publisher_id) return true;
    if (current.status === pending)
      await recordPending(context, { publisherId: publisher_id, nodeId, version, isNewNode: false });
    const failed = await transact(context, [
      updating<NodeVersionRecord>(current, { publisher_id }, onRevision(current)),
      checking<NodeRecord>(nodeKey(nodeId), [['publisher_id', '=', publisher_id]]),
    ]);
    if (failed.length > 0) return undefined;
    await forgetPending(context, { publisherId: current.publisher_id, nodeId, version });
    return true;
  });
}

/** Gives a publisher another id, which may be one of its former ids. */
export async function renamePublisher(from: string, to: string): Promise<void> {
  const key = publisherKey(to);
  const created = adminHistory({
    of: key,
    action: 'publisher rename',
    subject: to,
    detail: `${from} to ${to}`,
  });
  await untilWritten(newContext(), async () => {
    const old = await readEither(from, to);
    const former = publisherRecord((await get(newContext(), key))[0]);
    const { pk: _pk, sk: _sk, moved_to: _to, moved_at: _at, moving_to: _into, ...fields } = old;
    const revision = (former?.revision ?? 0) + 1;
    // Members come in the write that gives the old id up, or one who is removed before it would stay.
    const renamed: PublisherRecord = { ...fields, ...key, id: to, members: {}, renamed_from: from, revision };
    const when = former && (await successorOf(former)) === from ? onRevision(former) : absent;
    const [failed] = await transact(newContext(), [
      putting(renamed, when),
      updating<PublisherRecord>(old, { moving_to: to }, onRevision(old)),
      created,
    ]);
    if (failed === 1) return undefined;
    if (failed !== undefined && (await readPublisher(newContext(), to)).renamed_from !== from)
      throw new Rejection(`There is a publisher "${to}" already: use publisher merge to make one of both.`);
    return true;
  });
  await move(from, to, 'publisher rename');
}

/** The publisher that an id leads to after all renames and merges. */
async function successorOf({ id, moved_to }: PublisherRecord): Promise<string> {
  if (moved_to === undefined) return id;
  return successorOf(requirePublisher((await get(newContext(), publisherKey(moved_to)))[0]));
}

/** Merges one publisher into another. The first one's id then leads to the second. */
export async function mergePublisher(from: string, to: string): Promise<void> {
  await readEither(from, to);
  await readPublisher(newContext(), to);
  await move(from, to, 'publisher merge');
}

/** The publisher to give up, before or during the move. */
async function readEither(from: string, to: string): Promise<PublisherRecord> {
  if (publisherKey(from).pk === publisherKey(to).pk) throw new Rejection('Both ids mean the same publisher.');
  const [item] = await get(newContext(), publisherKey(from));
  if (!item) throw new Rejection(`There is no publisher "${from}".`);
  const publisher = requirePublisher(item);
  const now = movedTo(item, from);
  if (now !== undefined && now !== to) throw new Rejection(`The publisher "${from}" is "${now}" now.`);
  if (publisher.banned) throw bannedPublisher(from);
  const { moving_to } = publisher;
  // Anything that another rename has moved by now would stay with a publisher without members.
  if (now === undefined && moving_to !== undefined && moving_to !== to) {
    const half = publisherRecord((await get(newContext(), publisherKey(moving_to)))[0]);
    if (half?.moved_to === undefined)
      throw new Rejection(`A rename is half done: first run publisher rename ${from} ${moving_to} again.`);
  }
  return publisher;
}

async function move(from: string, to: string, action: string): Promise<void> {
  await moveCredentials(from, to);
  for (const nodeId of await listOwnedNodes(from)) await transferNode(nodeId, to);
  await giveUpId(from, to, action);
  // Move credentials that were created under the old id meanwhile.
  await moveCredentials(from, to);
  for (const nodeId of await listOwnedNodes(from)) await transferNode(nodeId, to);
  // An interrupted run may have moved a node without its versions.
  for (const nodeId of await listOwnedNodes(to)) await moveVersions(nodeId);
}

/**
 * Members join in the write that gives the old id up. So members who are added or removed meanwhile are
 * included, and if two publishers are merged into each other, one stays.
 */
async function giveUpId(from: string, to: string, action: string): Promise<void> {
  await administerChange(async (context) => {
    const publisher = await readPublisher(context, to);
    const [item] = await get(context, publisherKey(from));
    const old = requirePublisher(item);
    if (old.moved_to !== undefined) return { done: publisher };
    if (old.banned) throw bannedPublisher(from);
    const joining = Object.entries(old.members).filter(([user, { role }]) => {
      const known = publisher.members[user];
      return !known || (role === 'owner' && known.role !== 'owner');
    });
    const members: Record<string, Member> = { ...publisher.members, ...Object.fromEntries(joining) };
    const change = { action, subject: from, detail: `${from} to ${to}` };
    const moved = { moved_to: to, moved_at: new Date().toISOString(), members: {} };
    const writes = [
      updating<PublisherRecord>(publisher, { members }, onRevision(publisher)),
      updating<PublisherRecord>(old, moved, onRevision(old)),
      adminHistory({ of: publisherKey(to), ...change }),
    ];
    return { change: { of: publisherKey(from), ...change }, writes, result: publisher };
  });
}

function bannedPublisher(id: string): Rejection {
  return new Rejection(`The publisher "${id}" is banned: lift the ban first.`);
}

async function moveCredentials(from: string, to: string): Promise<void> {
  const { pk } = publisherKey(from);
  for (const kind of ['TOKEN#', 'TRUST#'])
    for (const { sk } of await listItems({ pk, sk: kind })) await moveCredential({ pk, sk: String(sk) }, to);
}

/** In one step; otherwise, a credential revoked meanwhile would live on as its copy. */
function moveCredential(key: Key, to: string): Promise<true> {
  const context = newContext();
  return untilWritten(context, async () => {
    const [item] = await get(context, key);
    if (!item) return true;
    const record = credentialRecord(item);
    const moved = { ...record, pk: publisherKey(to).pk };
    const publisher = await readPublisher(context, to);
    const failed = await transact(context, [
      checking<PublisherRecord>(publisher, [['moved_to', 'absent']]),
      putting<CredentialRecord>(moved, absent),
      deleting<CredentialRecord>(key, onRevision(record)),
    ]);
    return failed.length === 0 || undefined;
  });
}
