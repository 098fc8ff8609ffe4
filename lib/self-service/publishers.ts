import type { Context } from '../context.ts';
import { contracts } from '../contracts/self-service/publishers.ts';
import { ApiError } from '../errors.ts';
import { weightOf } from '../json.ts';
import { findPublisher, latestHistory, ownersView, seePublisher } from '../registry/changes.ts';
import { editOwnVersion, restoreVersion, withdrawVersion } from '../registry/edit-version.ts';
import { listVersions, nodeVersionView } from '../registry/node-versions.ts';
import { nodeView } from '../registry/nodes.ts';
import { numbersRecord } from '../registry/numbers.ts';
import { createPublisher, editPublisher, whyNotFree } from '../registry/profiles.ts';
import { isGivenUp, memberOf, permissionsOf, publisherFor } from '../registry/publishers.ts';
import {
  type NodeRecord,
  type NodeVersionRecord,
  nodeRecord,
  nodeVersionRecord,
  ownedNodeRecord,
  type PublisherRecord,
} from '../registry/records.ts';
import type { Item } from '../store/items.ts';
import { isSameNodeId, type Key, keyName, nodeKey, numbersKey, ownedNodeKey } from '../store/keys.ts';
import { get, queryAll, readAll } from '../store/read.ts';
import { peopleRoutes } from './people.ts';

/* Publishers, and what their members see and do of their nodes. */

/** Up to so many nodes, as one page may have, a stranger's list is made of the public ones only, if they are not large. */
const maxCounted = 100;

export const publisherRoutes = peopleRoutes(contracts, {
  async validatePublisher({ query, context }) {
    const reason = await whyNotFree(context, query.username);
    if (reason !== undefined) throw new ApiError('invalid_request', { message: reason });
    return { isAvailable: true as const };
  },
  createPublisher: async ({ body, caller, context }) =>
    publisherFor(caller, await createPublisher(context, caller, body)),
  getPublisher: async ({ path, caller, context }) =>
    publisherFor(caller, await publisherAt(context, path.publisherId)),
  updatePublisher: async ({ path, body, caller, context }) =>
    publisherFor(caller, (await editPublisher(context, caller, path.publisherId, body)).result),
  getPermissionOnPublisher: async ({ path, caller, context }) =>
    permissionsOf(caller, await publisherAt(context, path.publisherId)),
  async listNodesForPublisher({ path, query: { page, limit }, caller, context }) {
    const publisher = await publisherAt(context, path.publisherId);
    const items = await queryAll(context, ownedNodeKey(publisher.id, ''));
    const ids = items.map((item) => ownedNodeRecord(item).node_id);
    const ofPage = <Each>(all: readonly Each[]) => all.slice((page - 1) * limit, page * limit);
    const seesAll = caller && (caller.isAdmin || memberOf(publisher, caller.userId));
    const all = seesAll || ids.length > maxCounted ? undefined : await readNodes(context, ids, publisher);
    const isCounted = all === undefined || all.unread.length > 0;
    const { read, unread } = isCounted ? await readNodes(context, ofPage(ids), publisher) : all;
    const shown = read.filter(({ node: { status, latest_version } }) =>
      seesAll ? true : status === 'NodeStatusActive' && latest_version && !publisher.banned,
    );
    const some = isCounted ? shown : ofPage(shown);
    const owner = publisherFor(caller, publisher);
    // Each node repeats it. A hundred members may have 100 KB, and a profile 70 KB.
    const isLarge = weightOf(JSON.stringify(owner)) * some.length > maxWeight;
    const repeated = isLarge ? { id: publisher.id, name: publisher.name } : owner;
    const nodes = some.map((each) => ({ ...nodeView(each), publisher: repeated }));
    const total = isCounted ? ids.length : shown.length;
    return {
      nodes: [...nodes, ...(seesAll ? unread.map((id) => ({ id })) : [])],
      total,
      page,
      limit,
      totalPages: Math.ceil(total / limit),
    };
  },
  async getPermissionOnPublisherNodes({ path, caller, context }) {
    const publisher = await publisherAt(context, path.publisherId);
    await nodeOf(context, publisher, path.nodeId);
    return permissionsOf(caller, publisher);
  },
  async listHistory({ path, query: { node_id: id }, caller, context }) {
    const publisher = await seePublisher(context, caller, path.publisherId, 'see all of publisher');
    const of = id === undefined ? publisher : await nodeOf(context, publisher, id);
    return (await latestHistory(context, of)).map(ownersView);
  },
  async listNodeVersions({ path, query, caller, context }) {
    const publisher = await seePublisher(context, caller, path.publisherId);
    const node = await nodeOf(context, publisher, path.nodeId);
    const wanted = query.statuses?.split(',');
    const listed = (await listVersions(context, node.id))
      .filter(({ status }) => (wanted ? wanted.includes(status) : status !== 'NodeVersionStatusDeleted'))
      .reverse();
    const { found } = await readSome(context, listed, versionsAtOnce);
    return listed.map((each) => nodeVersionView(nodeVersionRecord(found.get(keyName(each))) ?? each));
  },
  async updateNodeVersion({ path, body, caller, context }) {
    const { changelog, deprecated, status } = body;
    const request = { ...path, by: caller };
    let version: NodeVersionRecord | undefined;
    if (status) version = (await restoreVersion(context, request)).result;
    // An empty edit is one as well: the answer is the version.
    if (!version || changelog !== undefined || deprecated !== undefined)
      version = (await editOwnVersion(context, request, { changelog, deprecated })).result;
    return nodeVersionView(version);
  },
  async deleteNodeVersion({ path, caller, context }) {
    await withdrawVersion(context, { ...path, by: caller });
  },
});

async function publisherAt(context: Context, publisherId: string): Promise<PublisherRecord> {
  const publisher = await findPublisher(context, publisherId);
  if (!publisher || isGivenUp(publisher)) throw new ApiError('publisher_not_found');
  return publisher;
}

async function nodeOf(context: Context, publisher: PublisherRecord, nodeId: string): Promise<NodeRecord> {
  const node = nodeRecord((await get(context, nodeKey(nodeId)))[0]);
  if (!node || !isSameNodeId(node.id, nodeId) || node.publisher_id !== publisher.id)
    throw new ApiError('node_not_found');
  return node;
}

/** An answer has room for so much, and for one more page, of items of up to 120 KB or 400 KB, or twice that if all is quotes. */
const maxWeight = 1_000_000;
const versionsAtOnce = 16;
const nodesAtOnce = 4;

/** The first of these items, until they weigh much, and of how many keys: who asks may be anybody. */
async function readSome(
  context: Context,
  keys: readonly Key[],
  pageSize: number,
): Promise<{ found: Map<string, Item>; count: number }> {
  const found = new Map<string, Item>();
  let [weight, count] = [0, 0];
  for (; count < keys.length && weight < maxWeight; count += pageSize) {
    const items = await readAll(context, keys.slice(count, count + pageSize));
    weight += weightOf(JSON.stringify(items));
    for (const item of items) found.set(keyName(item), item);
  }
  return { found, count };
}

/** In the order of their ids; if they are large, the ids of the last ones. */
async function readNodes(context: Context, ids: readonly string[], publisher: PublisherRecord) {
  const keys = ids.flatMap((id) => [nodeKey(id), numbersKey(id)]);
  const { found, count } = await readSome(context, keys, 2 * nodesAtOnce);
  const read = ids.flatMap((id) => {
    const node = nodeRecord(found.get(keyName(nodeKey(id))));
    const numbers = numbersRecord(found.get(keyName(numbersKey(id))));
    return node?.publisher_id === publisher.id ? [{ node, numbers, publisher }] : [];
  });
  return { read, unread: ids.slice(count / 2) };
}
