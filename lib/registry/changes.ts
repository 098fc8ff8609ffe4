import { normalizeVersion } from '@node-registry/registry-rules/version-label';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { decide, type Found, type Named, type Once, type Reads } from '../store/decide.ts';
import { type Changes, type Item, withChanges } from '../store/items.ts';
import {
  credentialsKey,
  historyKeysOf,
  isSameNodeId,
  type Key,
  nodeKey,
  nodeVersionKey,
  publisherKey,
} from '../store/keys.ts';
import { get, queryPage } from '../store/read.ts';
import type { Write } from '../store/write.ts';
import { type Action, blockOf, may, type Subject } from './may.ts';
import { owesAlignment } from './intents.ts';
import { listVersions, recordedChanges, rivalOf } from './node-versions.ts';
import { memberOf, presentPublisher, underPresentId } from './publishers.ts';
import {
  type Actor,
  type Change,
  type Changed,
  historyOf,
  type HistoryRecord,
  historyRecord,
  isOfPublisher,
  type NodeRecord,
  nodeRecord,
  type NodeVersionRecord,
  nodeVersionRecord,
  type Operator,
  type PublisherRecord,
  publisherRecord,
} from './records.ts';

/* Changes by people and by the administration. Each is one transaction with its history. */

/** What is changed, or that everything is as it should be. */
export type Outcome<Result> =
  | { done: Result }
  | {
      change: Change;
      /** Other records whose history has the change as well. */
      alsoOf?: readonly Key[];
      writes: readonly Write[];
      result: Result;
      /** Whom the history names instead. */
      actor?: string;
    };

/** Writes a decision with its history, which names who made it. */
export function change<First extends Named, Result, Then extends Named = Record<never, never>>(
  context: Context,
  by: Actor,
  reads: Reads<First, Then>,
  decision: (found: Found<First> & Found<Then>, once: Once) => Outcome<Result>,
): Promise<Changed<Result>> {
  return decide<First, Changed<Result>, Then>(context, reads, (found, once) => {
    const made = decision(found, once);
    if ('done' in made) return { result: { result: made.done, changed: false } };
    const { change, alsoOf = [], writes, result } = made;
    const histories = [change.of, ...alsoOf].map((of) =>
      historyOf(made.actor ?? by, { ...change, of }, once),
    );
    return { writes: [...writes, ...histories], result: { result, changed: true } };
  });
}

interface PublisherChange<More extends Named> {
  publisherId: string;
  action: Action;
  /** What else the decision needs, of the publisher's id. */
  reads?: ((publisherId: string) => More) | undefined;
  /** What else decides whether it is allowed. */
  about?: ((found: Found<More>) => Subject) | undefined;
}

/** A change of what a publisher has, under whichever id the publisher is asked for. */
export function changeOf<Result, More extends Named = Record<never, never>>(
  context: Context,
  by: Actor,
  { action, reads, about, ...asked }: PublisherChange<More>,
  decision: (
    publisher: PublisherRecord,
    found: Found<More>,
    once: Once,
    credentials: Item | undefined,
  ) => Outcome<Result>,
): Promise<Changed<Result>> {
  return underPresentId(asked.publisherId, (publisherId) => {
    const credentials = reads && credentialsKey(publisherId);
    const first = { publisher: publisherKey(publisherId), block: blockOf(by), credentials };
    // After these: their revisions then stand for all that is below the publisher.
    const following = reads && (() => reads(publisherId));
    return change(context, by, { first, following }, (found, once): Outcome<Result> => {
      const { publisher, block, credentials }: Found<typeof first> = found;
      const record =
        'operator' in by
          ? existingPublisher(publisher, publisherId)
          : presentPublisher(publisher, publisherId);
      may(by, action, { publisher: record, block, ...about?.(found) });
      // Each such action is closed without one.
      if (!record) throw new ApiError('publisher_not_found');
      const made = decision(record, found, once, credentials);
      // Owners see it as an act of the registry.
      const asAdmin = 'userId' in by && by.isAdmin && !memberOf(record, by.userId);
      return asAdmin && 'change' in made ? { ...made, actor: `admin:${by.userId}` } : made;
    });
  });
}

/** The publisher of whatever id, for one who may see it. */
export async function seePublisher(
  context: Context,
  caller: Caller,
  publisherId: string,
  action: 'see publisher' | 'see all of publisher' = 'see publisher',
): Promise<PublisherRecord> {
  return may(caller, action, { publisher: await findPublisher(context, publisherId) }).publisher;
}

/** A publisher in any spelling of its id, or of its id before a rename. */
export function findPublisher(context: Context, id: string): Promise<PublisherRecord | undefined> {
  return underPresentId(id, async (publisherId) => {
    const [item] = await get(context, publisherKey(publisherId));
    return presentPublisher(item, publisherId);
  });
}

/** The operator names a publisher by its very id: a command changes nothing by way of a mistyped one. */
export function existingPublisher(item: Item | undefined, publisherId: string): PublisherRecord {
  const publisher = publisherRecord(item);
  const wrong = (message: string) => new ApiError('publisher_not_found', { message });
  if (!publisher) throw wrong(`There is no publisher "${publisherId}".`);
  if (publisher.moved_to !== undefined)
    throw wrong(`The publisher "${publisherId}" is "${publisher.moved_to}" now.`);
  if (publisher.id !== publisherId) throw wrong(`The publisher's id is "${publisher.id}".`);
  return publisher;
}

/** As the operator names it. */
export function existingNode(item: Item | undefined, nodeId: string): NodeRecord {
  const node = nodeRecord(item);
  if (node && isSameNodeId(node.id, nodeId)) return node;
  const meant = node ? `; did you mean "${node.id}"?` : '.';
  throw new ApiError('node_not_found', { message: `There is no node "${nodeId}"${meant}` });
}

interface OperatorChange {
  nodeId: string;
  entry: { action: string; detail?: string };
  /** Whether its archive follows. */
  isAligned?: true;
}

type VersionDecision = (current: NodeVersionRecord) => Changes<NodeVersionRecord> | undefined;

/** The operator's change of a version, with the node's copy of its latest version. */
export async function changeVersion(
  context: Context,
  operator: Operator,
  { version, ...change }: OperatorChange & { version: string },
  decision: VersionDecision,
): Promise<Changed<NodeVersionRecord>> {
  const [changed] = await changeVersions(context, operator, { ...change, versions: [version] }, decision);
  if (!changed) throw noSuchVersion(change.nodeId, version);
  return changed;
}

/** Some of a node's at once: alone, each would also write the node, and list all. Returns those that exist. */
export function changeVersions(
  context: Context,
  operator: Operator,
  { nodeId, versions, entry, isAligned }: OperatorChange & { versions: readonly string[] },
  decision: VersionDecision,
): Promise<Changed<NodeVersionRecord>[]> {
  const labels = new Set(versions.flatMap((version) => normalizeVersion(version) ?? []));
  const first = {
    node: nodeKey(nodeId),
    versions: { each: [...labels].map((label) => nodeVersionKey(nodeId, label)) },
  };
  const following = async ({ node, versions: named }: Found<typeof first>) => {
    const ids = new Set(named.map(({ id }) => id));
    const others = (await listVersions(context, nodeId)).filter(({ id }) => !ids.has(id));
    return { rival: rivalOf(nodeRecord(node), undefined, others) };
  };
  return decide(context, { first, following }, ({ rival, ...found }, once) => {
    const node = existingNode(found.node, nodeId);
    const all = found.versions.map((item) => {
      const before = nodeVersionRecord(item);
      return { before, changes: decision(before) };
    });
    const result = all.map(({ before, changes }) => ({
      result: withChanges(before, changes ?? {}),
      changed: changes !== undefined,
    }));
    const changed = all.flatMap(({ before, changes }) => (changes ? { before, changes } : []));
    const [one, ...rest] = changed;
    if (!one) return { result };
    const label = rest.length === 0 ? one.before.version : undefined;
    const owed = isAligned && owesAlignment(node, node.publisher_id, once.id, label);
    const writes = recordedChanges(node, rival, changed, { by: operator, ...entry }, once, owed || {});
    return { writes, result };
  });
}

export function noSuchVersion(nodeId: string, version: string): ApiError {
  const message = `The node "${nodeId}" has no version "${version}".`;
  return new ApiError('node_version_not_found', { message });
}

const maxShown = 200;

/** The latest changes of a publisher or a node, the latest first. */
export async function latestHistory(context: Context, of: Key): Promise<HistoryRecord[]> {
  const latest = async (side: 'OWNERS' | 'REGISTRY') =>
    (await queryPage(context, { below: historyKeysOf(of, side) }, { limit: maxShown, descending: true }))
      .items;
  const [byOwners, byRegistry] = await Promise.all([latest('OWNERS'), latest('REGISTRY')]);
  return latestFirst([...byRegistry, ...byOwners].map(historyRecord)).slice(0, maxShown);
}

export function latestFirst(history: readonly HistoryRecord[]): HistoryRecord[] {
  return history.toSorted((a, b) => Number(a.at < b.at) - Number(a.at > b.at));
}

/** What owners see of it: of the administration neither who, nor what it wrote for itself. */
export function ownersView({ at, actor, action, subject, detail, public_reason }: HistoryRecord) {
  if (isOfPublisher(actor)) return { at, actor, action, subject, ...(detail && { detail }) };
  return { at, actor: 'the registry', action, subject, ...(public_reason && { detail: public_reason }) };
}
