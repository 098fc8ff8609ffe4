import {
  CloudFrontClient,
  CreateInvalidationCommand,
  GetInvalidationCommand,
  TooManyInvalidationsInProgress,
} from '@aws-sdk/client-cloudfront';
import { publishedFolder } from '../bucket/object-keys.ts';
import * as config from '../config.ts';
import { type Context, untilDeadline } from '../context.ts';
import { allEnded, inParallel, inParts } from '../in-parallel.ts';
import { updating, write } from '../store/write.ts';
import { type Outcome, worker } from '../work/worker.ts';
import { alignVersions, maxAtOnce } from './bans.ts';
import { alignArchives } from './denied-archives.ts';
import { alignLater, endIntent } from './intents.ts';
import { followPublisher, listOwnedNodes, readCredentials, successorOf, unlist } from './moves.ts';
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

export const alignRegistry = worker<Aligned>('align', { handle: align });

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

/**
 * The archives of a node, or of the one version that was decided on, follow first, and the distribution drops its copies
 * of them. Meanwhile all versions follow it and its publisher, page by page.
 */
async function alignNode(
  context: Context,
  node: NodeRecord,
  onDenied?: (keys: readonly string[]) => void,
): Promise<Outcome> {
  const { id, intent, only, aligned_to } = node;
  const denied =
    aligned_to === undefined ? await alignArchives(context, id, publishedFolder(id, only)) : undefined;
  onDenied?.(denied ?? []);
  const { DISTRIBUTION_ID } = config.distribution();
  const hasCopies = denied?.length !== 0 && DISTRIBUTION_ID !== undefined && intent !== undefined;
  const [isDropped, { last, isOver }] = await allEnded([
    !hasCopies || areCopiesDropped(context, DISTRIBUTION_ID, intent, publishedFolder(id)),
    only === undefined ? followNode(context, node) : { last: undefined, isOver: true },
  ]);
  if (isDropped && isOver) return endIntent(context, node);
  if (last !== undefined && intent !== undefined)
    await write(context, updating(node, { aligned_to: last }, [['intent', '=', intent]]));
  return 'more';
}

const cloudFront = config.configured(() => new CloudFrontClient({}));

/**
 * Makes the distribution drop its copies of a node's archives, once for each intent, and says whether it has. CloudFront
 * answers a repeated request with what it began before, and works on few such paths at a time.
 */
async function areCopiesDropped(
  context: Context,
  DistributionId: string,
  CallerReference: string,
  folder: string,
): Promise<boolean> {
  const until = untilDeadline(context);
  const Paths = { Quantity: 1, Items: [`/${folder}*`] };
  const create = new CreateInvalidationCommand({
    DistributionId,
    InvalidationBatch: { CallerReference, Paths },
  });
  try {
    const { Invalidation: begun } = await cloudFront().send(create, until);
    const find = new GetInvalidationCommand({ DistributionId, Id: begun?.Id });
    const { Invalidation: now } = await cloudFront().send(find, until);
    return now?.Status === 'Completed';
  } catch (error) {
    if (error instanceof TooManyInvalidationsInProgress) return false;
    throw error;
  }
}

/** The versions of one large node must not keep the archives of others from being denied. */
const maxRunMs = 50_000;

/** From where the last run has come to. The first run of a large node is for its archives. */
async function followNode(
  context: Context,
  node: NodeRecord,
): Promise<{ last: string | undefined; isOver: boolean }> {
  const isFirst = node.aligned_to === undefined && (node.versions ?? 0) > maxAtOnce;
  const until = isFirst ? 0 : Date.now() + maxRunMs;
  let last = node.aligned_to;
  for (;;) {
    const next = await alignVersions(context, node, last);
    if (next === undefined) return { last, isOver: true };
    last = next;
    if (isLate(context) || Date.now() > until) return { last, isOver: false };
  }
}

const nodesAtOnce = 16;
const pageOfNodes = 100;

/** A publish that began before a move may still add a node. */
const publishMs = 60_000;

/** Its nodes follow a publisher: to the one that it is now, or, later, by its ban or the end of that. */
async function alignPublisher(context: Context, publisher: PublisherRecord): Promise<Outcome> {
  const { id, intent, moved_to, moved_at, aligned_to = '' } = publisher;
  const owned = await listOwnedNodes(context, id);
  if (moved_to !== undefined) {
    // One by one, because each transaction checks the same publisher. What is done leaves the list.
    for (const listed of owned) {
      if (isLate(context)) return 'more';
      await followPublisher(context, publisher, listed);
    }
    // This role may not move them.
    if ((await readCredentials(context, id)).length > 0)
      throw new Error(
        `Tokens or trusts of "${id}" are left. Move them: npm run admin -- publisher merge ${id} --into ${await successorOf(context, id)}`,
      );
    return endIntent(context, publisher, moved_at === undefined ? 0 : Date.parse(moved_at) + publishMs);
  }
  const left = owned.filter(({ sk }) => sk > aligned_to);
  for (const page of inParts(left, pageOfNodes)) {
    // Each owes its own alignment.
    await inParallel(page.values(), nodesAtOnce, async (listed) => {
      const isOwn = await alignLater(context, listed.node_id, { publisherId: id });
      // A move that died had listed it here.
      if (!isOwn) await unlist(context, listed);
    });
    const last = page.at(-1);
    if (isLate(context) && intent !== undefined && last && last !== left.at(-1)) {
      await write(context, updating(publisher, { aligned_to: last.sk }, [['intent', '=', intent]]));
      return 'more';
    }
  }
  return endIntent(context, publisher, 0);
}
