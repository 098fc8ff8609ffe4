import { randomUUID } from 'node:crypto';
import { publishedFolder } from '../bucket/object-keys.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { inParallel } from '../in-parallel.ts';
import { present } from '../store/items.ts';
import { nodeKey } from '../store/keys.ts';
import { update } from '../store/write.ts';
import { type Outcome, worker } from '../work/worker.ts';
import { alignVersions } from './bans.ts';
import { areCopiesDropped } from './cached-copies.ts';
import { alignArchives } from './denied-archives.ts';
import { endIntent, owesAlignment } from './intents.ts';
import { followPublisher, listOwnedNodes, readCredentials } from './moves.ts';
import {
  type Aligned,
  type NodeRecord,
  nodeRecord,
  type PublisherRecord,
  publisherRecord,
} from './records.ts';

/*
 * What follows from a decision of an administrator. Each step is one write that finds out whether it is already done, so
 * this may run several times, also at once, and begins again after a death. A command runs it itself; what that leaves,
 * the lane `align` finishes.
 */

export const alignRegistry = worker<Aligned>('align', { handle: (context, item) => align(context, item) });

/** `onDenied` gets the keys of archives that readers are denied. */
export function align(
  context: Context,
  item: Aligned,
  onDenied?: (keys: readonly string[]) => void,
): Promise<Outcome> {
  return item.sk === 'NODE'
    ? alignNode(context, nodeRecord({ ...item }), onDenied)
    : alignPublisher(context, publisherRecord({ ...item }));
}

/** With less time left, the rest is left to another call. */
const reservedMs = 10_000;
const isLate = ({ deadline }: Context) => Date.now() > deadline - reservedMs;

/** The versions of a node follow it and its publisher, their archives follow them, and the copies of those follow last. */
async function alignNode(
  context: Context,
  node: NodeRecord,
  onDenied?: (keys: readonly string[]) => void,
): Promise<Outcome> {
  while ((await alignVersions(context, node.id)) > 0) if (isLate(context)) return 'more';
  const folder = publishedFolder(node.id);
  const denied = await alignArchives(context, folder);
  onDenied?.(denied);
  const { DISTRIBUTION_ID } = config.distribution();
  if (denied.length > 0 && DISTRIBUTION_ID !== undefined && node.intent !== undefined)
    if (!(await areCopiesDropped(context, DISTRIBUTION_ID, node.intent, folder))) return 'more';
  return endIntent(context, node);
}

const nodesAtOnce = 16;

/** A publish that began before a move may still add a node. */
const publishMs = 60_000;

/** Its nodes follow a publisher: to the one that it is now, or, later, by its ban or the end of that. */
async function alignPublisher(context: Context, publisher: PublisherRecord): Promise<Outcome> {
  const { id, moved_to, moved_at } = publisher;
  const owned = await listOwnedNodes(context, id);
  // Each transaction checks the same publisher, so moves are made one by one.
  await inParallel(owned.values(), moved_to === undefined ? nodesAtOnce : 1, async (listed) => {
    if (isLate(context)) return;
    if (moved_to !== undefined) return followPublisher(context, publisher, listed);
    const key = nodeKey(listed.node_id);
    await update<NodeRecord>(context, key, owesAlignment(key, id, randomUUID()), present);
  });
  if (isLate(context)) return 'more';
  // This role may not move them.
  if (moved_to !== undefined && (await readCredentials(context, id)).length > 0)
    return { again: { last_error: `Tokens or trusts of "${id}" are left: repeat its rename or merge.` } };
  return endIntent(context, publisher, moved_at === undefined ? 0 : Date.parse(moved_at) + publishMs);
}
