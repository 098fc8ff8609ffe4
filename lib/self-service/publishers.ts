import type { Context } from '../context.ts';
import { contracts } from '../contracts/self-service/publishers.ts';
import { ApiError } from '../errors.ts';
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
import { isSameNodeId, type Key, keyName, nodeKey, numbersKey, ownedNodeKey } from '../store/keys.ts';
import { get, queryAll, readAll } from '../store/read.ts';
import { peopleRoutes } from './people.ts';

/* Publishers, and what their members see and do of their nodes. */

/** Up to so many nodes, as one page may have, a stranger's list is made of the public ones only. */
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
    const isCounted = seesAll || ids.length > maxCounted;
    const read = await readNodes(context, isCounted ? ofPage(ids) : ids, publisher);
    const shown = read.filter(({ node: { status, latest_version } }) =>
      seesAll ? true : status === 'NodeStatusActive' && latest_version && !publisher.banned,
    );
    const total = isCounted ? ids.length : shown.length;
    return {
      nodes: (isCounted ? shown : ofPage(shown)).map((each) => ({
        ...nodeView(each),
        publisher: publisherFor(caller, publisher),
      })),
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
    const read = await readSome(context, listed);
    return listed.map((each) => nodeVersionView(read.get(keyName(each)) ?? each));
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

/** An answer has room for so many, and for one more page. */
const maxBytes = 2_000_000;
const pageSize = 25;

/** The first of these versions, until there are many bytes. */
async function readSome(context: Context, listed: readonly Key[]): Promise<Map<string, NodeVersionRecord>> {
  const read = new Map<string, NodeVersionRecord>();
  let bytes = 0;
  for (let place = 0; place < listed.length && bytes < maxBytes; place += pageSize) {
    const items = await readAll(context, listed.slice(place, place + pageSize));
    bytes += Buffer.byteLength(JSON.stringify(items));
    for (const item of items) read.set(keyName(item), nodeVersionRecord(item));
  }
  return read;
}

/** In the order of their ids. */
async function readNodes(context: Context, ids: readonly string[], publisher: PublisherRecord) {
  const items = await readAll(
    context,
    ids.flatMap((id) => [nodeKey(id), numbersKey(id)]),
  );
  const found = new Map(items.map((item) => [keyName(item), item]));
  return ids.flatMap((id) => {
    const node = nodeRecord(found.get(keyName(nodeKey(id))));
    const numbers = numbersRecord(found.get(keyName(numbersKey(id))));
    return node?.publisher_id === publisher.id ? [{ node, numbers, publisher }] : [];
  });
}
