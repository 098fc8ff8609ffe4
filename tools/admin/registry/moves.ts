import { may } from '../../../lib/registry/may.ts';
import { movedTo } from '../../../lib/registry/publishers.ts';
import { forgetPending, recordPending } from '../../../lib/registry/pending-versions.ts';
import {
  type CredentialRecord,
  credentialRecord,
  type Member,
  type NodeRecord,
  nodeRecord,
  type NodeVersionRecord,
  nodeVersionRecord,
  type OwnedNodeRecord,
  pending,
  type PublisherRecord,
  publisherRecord,
} from '../../../lib/registry/records.ts';
import { readVersions } from '../../../lib/registry/node-versions.ts';
import { absent, always, type Item, onRevision } from '../../../lib/store/items.ts';
import { type Key, nodeKey, nodeVersionKey, ownedNodeKey, publisherKey } from '../../../lib/store/keys.ts';
import { get } from '../../../lib/store/read.ts';
import { decide } from '../../../lib/store/decide.ts';
import { checking, deleting, putting, updating } from '../../../lib/store/write.ts';
import {
  administer,
  adminHistory,
  listItems,
  listOwnedNodes,
  newContext,
  nodeIn,
  publisherIn,
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
export async function transferNode(actor: string, nodeId: string, to: string): Promise<boolean> {
  const of = nodeKey(nodeId);
  const first = [of, publisherKey(to), { below: nodeVersionKey(nodeId, '') }] as const;
  const following = (node: Item | undefined) =>
    [node && publisherKey(nodeRecord(node).publisher_id)] as const;
  const { changed } = await administer(
    actor,
    { first, following },
    ([item, publisherItem, versions, ownerItem]) => {
      const node = nodeIn(item, nodeId);
      const publisher = publisherIn(publisherItem, to);
      const from = node.publisher_id;
      if (from === to) return { done: node };
      const owner = existing(ownerItem, from);
      if (publisher.banned || owner.banned)
        throw new Rejection('A publisher is banned: lift the ban first, or its versions would stay banned.');
      requireNoBan(
        versions.flatMap((version) => nodeVersionRecord(version) ?? []),
        owner.id,
      );
      const owned: OwnedNodeRecord = {
        ...ownedNodeKey(to, node.id),
        node_id: node.id,
        created_at: node.created_at,
      };
      return {
        change: { of, action: 'node transfer', subject: node.id, detail: `${from} to ${to}` },
        alsoOf: [publisherKey(from), publisherKey(to)],
        writes: [
          updating<NodeRecord>(node, { publisher_id: to }, onRevision(node)),
          checking<PublisherRecord>(owner, onRevision(owner)),
          checking<PublisherRecord>(publisher, [
            ['banned', 'absent'],
            ['moved_to', 'absent'],
          ]),
          putting(owned, absent),
          deleting(ownedNodeKey(from, node.id), always),
        ],
        result: node,
      };
    },
  );
  await moveVersions(nodeId);
  return changed;
}

function existing(item: Item | undefined, publisherId: string): PublisherRecord {
  const publisher = publisherRecord(item);
  if (!publisher) throw new Rejection(`There is no publisher "${publisherId}".`);
  return publisher;
}

/** An interrupted unban leaves versions that would stay banned. */
function requireNoBan(versions: readonly NodeVersionRecord[], owner: string): void {
  const [banned] = versions.filter(({ bans }) => bans?.publisher !== undefined);
  if (banned)
    throw new Rejection(
      `Versions of "${banned.node_id}" are still banned: run publisher unban ${owner} first.`,
    );
}

async function moveVersions(nodeId: string): Promise<void> {
  for (const { version } of await readVersions(newContext(), nodeId)) await moveVersion(nodeId, version);
}

/** To the current owner of the node: another administrator may transfer it meanwhile. */
async function moveVersion(nodeId: string, version: string): Promise<void> {
  const context = newContext();
  const first = [nodeKey(nodeId), nodeVersionKey(nodeId, version)] as const;
  const from = await decide(context, { first }, ([nodeItem, item]) => {
    const { publisher_id } = nodeIn(nodeItem, nodeId);
    const current = nodeVersionRecord(item);
    if (!current || current.publisher_id === publisher_id) return { result: undefined };
    const begun = { publisherId: publisher_id, nodeId, version };
    return {
      writes: [
        updating<NodeVersionRecord>(current, { publisher_id }, onRevision(current)),
        checking<NodeRecord>(nodeKey(nodeId), [['publisher_id', '=', publisher_id]]),
      ],
      beside: current.status === pending ? [() => recordPending(context, begun)] : [],
      result: current.publisher_id,
    };
  });
  if (from !== undefined) await forgetPending(context, { publisherId: from, nodeId, version });
}

/** Gives a publisher another id, which may be one of its former ids. */
export async function renamePublisher(actor: string, from: string, to: string): Promise<void> {
  const key = publisherKey(to);
  const isFormerId = (await successorOf(to)) === from;
  await decide(newContext(), eitherReads(from, to), ([item, formerItem, half], once) => {
    const old = either(item, half, { from, to });
    if (formerItem && !isFormerId) {
      if (publisherIn(formerItem, to).renamed_from === from) return { result: undefined };
      throw new Rejection(`There is a publisher "${to}" already: use publisher merge to make one of both.`);
    }
    const former = publisherRecord(formerItem);
    const { pk: _pk, sk: _sk, moved_to: _to, moved_at: _at, moving_to: _into, ...fields } = old;
    const revision = (former?.revision ?? 0) + 1;
    // Members come in the write that gives the old id up, or one who is removed before it would stay.
    const renamed: PublisherRecord = { ...fields, ...key, id: to, members: {}, renamed_from: from, revision };
    const change = { of: key, action: 'publisher rename', subject: to, detail: `${from} to ${to}` };
    return {
      writes: [
        putting(renamed, former ? onRevision(former) : absent),
        updating<PublisherRecord>(old, { moving_to: to }, onRevision(old)),
        adminHistory(actor, change, once),
      ],
      result: undefined,
    };
  });
  await move(actor, from, to, 'publisher rename');
}

/** The publisher that an id leads to after all renames and merges. */
async function successorOf(publisherId: string): Promise<string> {
  const [item] = await get(newContext(), publisherKey(publisherId));
  const { id = publisherId, moved_to } = publisherRecord(item) ?? {};
  return moved_to === undefined ? id : successorOf(moved_to);
}

/** Merges one publisher into another. The first one's id then leads to the second. */
export async function mergePublisher(actor: string, from: string, to: string): Promise<void> {
  await decide(newContext(), eitherReads(from, to), ([item, toItem, half]) => {
    either(item, half, { from, to });
    // Credentials would move before the first node is rejected.
    if (publisherIn(toItem, to).banned) throw bannedPublisher(to);
    return { result: undefined };
  });
  for (const nodeId of await listOwnedNodes(from))
    requireNoBan(await readVersions(newContext(), nodeId), from);
  await move(actor, from, to, 'publisher merge');
}

function eitherReads(from: string, to: string) {
  return {
    first: [publisherKey(from), publisherKey(to)],
    following: (item: Item | undefined) => {
      const { moving_to } = publisherRecord(item) ?? {};
      return [moving_to === undefined ? undefined : publisherKey(moving_to)] as const;
    },
  } as const;
}

/** The publisher to give up, before or during the move. `half` is what another rename began. */
function either(
  item: Item | undefined,
  half: Item | undefined,
  { from, to }: { from: string; to: string },
): PublisherRecord {
  if (publisherKey(from).pk === publisherKey(to).pk) throw new Rejection('Both ids mean the same publisher.');
  const { publisher } = may('operator', 'move publisher', { publisher: existing(item, from) });
  const now = movedTo(publisher, from);
  if (now !== undefined && now !== to) throw new Rejection(`The publisher "${from}" is "${now}" now.`);
  if (publisher.banned) throw bannedPublisher(from);
  const { moving_to } = publisher;
  // Anything that another rename has moved by now would stay with a publisher without members.
  const isHalf = now === undefined && moving_to !== undefined && moving_to !== to;
  if (isHalf && publisherRecord(half)?.moved_to === undefined)
    throw new Rejection(`A rename is half done: first run publisher rename ${from} ${moving_to} again.`);
  return publisher;
}

async function move(actor: string, from: string, to: string, action: string): Promise<void> {
  await moveCredentials(from, to);
  for (const nodeId of await listOwnedNodes(from)) await transferNode(actor, nodeId, to);
  await giveUpId(actor, from, to, action);
  // Move credentials that were created under the old id meanwhile.
  await moveCredentials(from, to);
  for (const nodeId of await listOwnedNodes(from)) await transferNode(actor, nodeId, to);
  // An interrupted run may have moved a node without its versions.
  for (const nodeId of await listOwnedNodes(to)) await moveVersions(nodeId);
}

/**
 * Members join in the write that gives the old id up. So members who are added or removed meanwhile are
 * included, and if two publishers are merged into each other, one stays.
 */
async function giveUpId(actor: string, from: string, to: string, action: string): Promise<void> {
  const first = [publisherKey(to), publisherKey(from)] as const;
  await administer(actor, { first }, ([item, oldItem], { now }) => {
    const publisher = publisherIn(item, to);
    const old = existing(oldItem, from);
    if (old.moved_to !== undefined) return { done: publisher };
    if (old.banned) throw bannedPublisher(from);
    const joining = Object.entries(old.members).filter(([user, { role }]) => {
      const known = publisher.members[user];
      return !known || (role === 'owner' && known.role !== 'owner');
    });
    const members: Record<string, Member> = { ...publisher.members, ...Object.fromEntries(joining) };
    const moved = { moved_to: to, moved_at: new Date(now).toISOString(), members: {} };
    return {
      change: { of: publisherKey(from), action, subject: from, detail: `${from} to ${to}` },
      alsoOf: [publisherKey(to)],
      writes: [
        updating<PublisherRecord>(publisher, { members }, onRevision(publisher)),
        updating<PublisherRecord>(old, moved, onRevision(old)),
      ],
      result: publisher,
    };
  });
}

function bannedPublisher(id: string): Rejection {
  return new Rejection(`The publisher "${id}" is banned: lift the ban first.`);
}

async function moveCredentials(from: string, to: string): Promise<void> {
  const { pk } = publisherKey(from);
  for (const kind of ['TOKEN#', 'TRUST#', 'INVITATION#'])
    for (const { sk } of await listItems({ pk, sk: kind })) await moveCredential({ pk, sk: String(sk) }, to);
}

/** In one step; otherwise, a credential revoked meanwhile would live on as its copy. */
function moveCredential(key: Key, to: string): Promise<void> {
  return decide(newContext(), { first: [key, publisherKey(to)] }, ([item, publisherItem]) => {
    if (!item) return { result: undefined };
    const record = credentialRecord(item);
    const moved = { ...record, pk: publisherKey(to).pk };
    return {
      writes: [
        checking<PublisherRecord>(publisherIn(publisherItem, to), [['moved_to', 'absent']]),
        putting<CredentialRecord>(moved, absent),
        deleting<CredentialRecord>(key, onRevision(record)),
      ],
      result: undefined,
    };
  });
}
