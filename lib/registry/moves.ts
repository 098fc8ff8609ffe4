import { memberIdOf } from '../caller.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { inParts } from '../in-parallel.ts';
import { decide, type Found } from '../store/decide.ts';
import { absent, always, type Item, onRevision, withChanges } from '../store/items.ts';
import { credentialsKey, type Key, keyOf, nodeKey, ownedNodeKey, publisherKey } from '../store/keys.ts';
import { get, queryAll } from '../store/read.ts';
import { checking, deleting, putting, updating, type Write, write } from '../store/write.ts';
import { change, existingNode, existingPublisher } from './changes.ts';
import { owesAlignment } from './intents.ts';
import { may } from './may.ts';
import { memberOf, movedTo } from './publishers.ts';
import {
  type Changed,
  type CredentialRecord,
  credentialRecord,
  type CredentialsRecord,
  historyOf,
  type Member,
  type NodeRecord,
  nodeRecord,
  type Operator,
  type OwnedNodeRecord,
  ownedNodeRecord,
  type PublisherRecord,
  publisherRecord,
} from './records.ts';
import { counting, credentialsIn, endOf } from './tokens.ts';

/*
 * Nodes and publishers change hands. A decision is one transaction; what depends on it follows (alignment.ts). The results:
 *
 *   members    of a merged publisher join the other one, owners as owners. A transferred node brings none
 *   tokens     and trusts of a merged publisher move to the other one, under their ids. A transferred node brings none,
 *              so they no longer publish a version that waits for its archive; its new owner resumes it
 *   nodes      follow one by one, and the versions of each
 *   old id     is reserved for good; for 90 days it means the new one
 */

/** Gives a node to another publisher. */
export function transferNode(
  context: Context,
  operator: Operator,
  nodeId: string,
  to: string,
): Promise<Changed<NodeRecord>> {
  const of = nodeKey(nodeId);
  const first = { node: of, publisher: publisherKey(to) };
  const following = (found: Found<typeof first>) => ({
    owner: publisherKey(existingNode(found.node, nodeId).publisher_id),
  });
  return change(context, operator, { first, following }, (found, { id }) => {
    const node = existingNode(found.node, nodeId);
    const publisher = existingPublisher(found.publisher, to);
    const from = node.publisher_id;
    if (from === to) return { done: node };
    const owner = existing(found.owner, from);
    for (const each of [owner, publisher]) if (each.banned) throw bannedPublisher(each.id);
    return {
      change: { of, action: 'node transfer', subject: node.id, detail: `${from} to ${to}` },
      alsoOf: [publisherKey(from), publisherKey(to)],
      writes: [
        ...handOver(node, publisher, id),
        checking(owner, onRevision(owner)),
        deleting(ownedNodeKey(from, node.id), always),
      ],
      result: node,
    };
  });
}

/** The node has a new publisher, and what depends on it is to follow. */
function handOver(node: NodeRecord, publisher: PublisherRecord, intent: string): Write[] {
  const owned = ownedNodeKey(publisher.id, node.id);
  const { id: node_id, created_at } = node;
  return [
    updating<NodeRecord>(
      node,
      { publisher_id: publisher.id, ...owesAlignment(node, publisher.id, intent) },
      onRevision(node),
    ),
    checking(publisher, onRevision(publisher)),
    updating<OwnedNodeRecord>(owned, { node_id, created_at }, always),
  ];
}

function existing(item: Item | undefined, publisherId: string): PublisherRecord {
  const publisher = publisherRecord(item);
  if (publisher) return publisher;
  throw new ApiError('publisher_not_found', { message: `There is no publisher "${publisherId}".` });
}

function bannedPublisher(id: string): ApiError {
  return conflict(`The publisher "${id}" is banned: lift the ban first.`);
}

function conflict(message: string): ApiError {
  return new ApiError('conflict', { message });
}

/** A transaction has at most 100 writes. */
const maxMoved = 45;

/** Gives a publisher another id, which may be one of its former ids, or makes it part of another publisher. */
export async function movePublisher(
  context: Context,
  operator: Operator,
  verb: 'rename' | 'merge',
  from: string,
  to: string,
): Promise<Changed<PublisherRecord>> {
  const [key, oldKey] = [publisherKey(to), publisherKey(from)];
  if (key.pk === oldKey.pk) throw conflict('Both ids mean the same publisher.');
  const isFormerId = verb === 'rename' && (await successorOf(context, to)) === from;
  const present = await successorOf(context, from);
  const first = { publisher: oldKey, next: key, made: credentialsKey(from) };
  const following = () => credentialsIn(from);
  const moved = await change(context, operator, { first, following }, (found, { id, now }) => {
    const { publisher: old } = may(operator, 'move publisher', {
      publisher: existing(found.publisher, from),
    });
    if (old.moved_to === to || present === to) return { done: old };
    if (movedTo(old, from) !== undefined)
      throw conflict(`The publisher "${from}" is "${movedTo(old, from)}" now.`);
    if (old.banned) throw bannedPublisher(from);
    const at = new Date(now).toISOString();
    const given = { moved_to: to, moved_at: at, moved_by: operator.operator, members: {} };
    const isOfAdmin = isOfNoMember(old);
    // What an admin made comes first: later, it would look like a removed member's.
    const credentials = [...found.tokens, ...found.trusts, ...found.invitations]
      .map(credentialRecord)
      .sort((a, b) => Number(isOfAdmin(b)) - Number(isOfAdmin(a)));
    return {
      change: { of: oldKey, action: `publisher ${verb}`, subject: from, detail: `${from} to ${to}` },
      alsoOf: [key],
      writes: [
        verb === 'merge'
          ? joined(old, existingPublisher(found.next, to))
          : renamed(old, to, found.next, isFormerId),
        counting(from, found.made),
        updating(old, { ...given, ...owesAlignment(oldKey, from, id) }, onRevision(old)),
        ...credentials.slice(0, maxMoved).flatMap((each) => movedCredential(each, key)),
      ],
      result: old,
    };
  });
  // Those that had no room. Only this command may move them, so it is repeated if it dies here.
  for (const part of inParts(await readCredentials(context, from), maxMoved))
    await moveCredentials(context, part, publisherKey(await successorOf(context, from)));
  return moved;
}

/** The publisher that an id leads to after all renames and merges. */
export async function successorOf(context: Context, publisherId: string): Promise<string> {
  const [item] = await get(context, publisherKey(publisherId));
  const { id = publisherId, moved_to } = publisherRecord(item) ?? {};
  return moved_to === undefined ? id : successorOf(context, moved_to);
}

function renamed(old: PublisherRecord, to: string, item: Item | undefined, isFormerId: boolean): Write {
  const former = publisherRecord(item);
  if (former && !isFormerId) {
    existingPublisher(item, to);
    throw conflict(`There is a publisher "${to}" already: use publisher merge to make one of both.`);
  }
  const { pk: _, sk: __, moved_to, moved_at, moved_by, ...fields } = old;
  const revision = (former?.revision ?? 0) + 1;
  // What it owed follows its old id. An id that comes back still owes what is left of its own list.
  const owing = ['pending_shard', 'pending_since', 'group', 'tries', 'last_error'] as const;
  const names = ['intent', 'aligned_to', ...owing] as const;
  const owed = Object.fromEntries(names.map((name) => [name, former?.[name] ?? null]));
  const record = { ...withChanges(fields, owed), ...publisherKey(to), id: to, revision };
  return putting<PublisherRecord>(record, onRevision(former));
}

function joined({ members: old }: PublisherRecord, publisher: PublisherRecord): Write {
  if (publisher.banned) throw bannedPublisher(publisher.id);
  const joining = Object.entries(old).filter(([user, { role }]) => {
    const known = memberOf(publisher, user);
    return !known || (role === 'owner' && known.role !== 'owner');
  });
  const members: Record<string, Member> = { ...publisher.members, ...Object.fromEntries(joining) };
  return updating(publisher, { members }, onRevision(publisher));
}

export async function readCredentials(context: Context, publisherId: string): Promise<Item[]> {
  const found = Object.values(credentialsIn(publisherId)).map(({ below }) => queryAll(context, below));
  return (await Promise.all(found)).flat();
}

function movedCredential(record: CredentialRecord, { pk }: Key): Write[] {
  return [putting<CredentialRecord>({ ...record, pk }, absent), deleting(record, onRevision(record))];
}

/**
 * In one step; otherwise, a credential revoked meanwhile would live on as its copy. What was made by a member who has been
 * removed there since comes ended: the removal did not see it.
 */
function moveCredentials(context: Context, found: readonly Item[], to: Key): Promise<void> {
  const first = { publisher: to, left: { each: found.map((item) => keyOf(credentialRecord(item))) } };
  return decide(context, { first }, ({ publisher: item, left }, { now }) => {
    const publisher = publisherRecord(item);
    if (!publisher || left.length === 0) return { result: undefined };
    const isEnded = isOfNoMember(publisher);
    const moved = left.map(credentialRecord).flatMap((each) => {
      const end = each.revoked_at === undefined && isEnded(each) ? endOf(each, now) : {};
      return movedCredential({ ...each, ...end }, to);
    });
    const isThere = checking(publisher, [...onRevision(publisher), ['moved_to', 'absent']]);
    const counted = updating<CredentialsRecord>(credentialsKey(publisher.id), {}, always);
    return { writes: [...moved, isThere, counted], result: undefined };
  });
}

/** Whether the person who made a credential is not a member: one who was removed, or an admin. */
function isOfNoMember({ members }: PublisherRecord) {
  const ids = new Set(Object.keys(members).map(memberIdOf));
  return ({ made_by }: CredentialRecord) => made_by !== undefined && !ids.has(made_by);
}

export async function listOwnedNodes(context: Context, publisherId: string): Promise<OwnedNodeRecord[]> {
  const items = await queryAll(context, ownedNodeKey(publisherId, ''));
  return items.map((item) => ownedNodeRecord(item));
}

/** Gives a node of a publisher that was renamed or merged to the one that it is now. */
export async function followPublisher(
  context: Context,
  publisher: PublisherRecord,
  listed: OwnedNodeRecord,
): Promise<void> {
  const { id: from, moved_by = '' } = publisher;
  const to = await successorOf(context, from);
  // It has come back.
  if (to === from) return;
  const of = nodeKey(listed.node_id);
  const first = { node: of, next: publisherKey(to) };
  const isDone = await decide(context, { first }, (found, once) => {
    const [node, next] = [nodeRecord(found.node), publisherRecord(found.next)];
    if (!node || node.publisher_id !== from || !next) return { result: true };
    if (next.moved_to !== undefined) return { result: false };
    const entry = { of, action: 'node transfer', subject: node.id, detail: `${from} to ${to}` };
    return { writes: [...handOver(node, next, once.id), historyOf(moved_by, entry, once)], result: true };
  });
  if (!isDone) return followPublisher(context, publisher, listed);
  await unlist(context, listed);
}

/** Alone, because the role may delete nothing else. Not if the node has come back. */
export async function unlist(context: Context, listed: OwnedNodeRecord): Promise<void> {
  const { revision } = listed;
  const unlisted = deleting(listed, [
    revision === undefined ? ['revision', 'absent'] : ['revision', '=', revision],
  ]);
  await write(context, unlisted);
}
