import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { decide } from '../store/decide.ts';
import { onRevision } from '../store/items.ts';
import { type Key, nodeKey } from '../store/keys.ts';
import { updating, write } from '../store/write.ts';
import { lanes, owe, owesNothing, timeText } from '../work/lanes.ts';
import type { Outcome } from '../work/worker.ts';
import { type Aligned, nodeRecord } from './records.ts';

/*
 * What an administrator decides of a node or a publisher is one write. Its record then owes the alignment of what depends
 * on it (alignment.ts), until that has ended. The intent is the id of the decision: work for an earlier one doesn't end a
 * later one.
 */

/** By then, the command that made the decision has most likely done it all. */
const commandMs = 60_000;
const leaseMs = lanes.align.leaseSeconds * 1000;

/** Goes into the write of a decision: on one version, or on all that depends on the record. */
export function owesAlignment(
  of: Key & Pick<Aligned, 'intent' | 'again_at'>,
  publisherId: string,
  intent: string,
  only?: string,
) {
  // What an earlier decision owes is owed by this one.
  const scope = { only: of.intent === undefined && only !== undefined ? only : null, aligned_to: null };
  // Its work may still mark an archive, and die before it reads what was decided since.
  const isAlone =
    of.sk !== 'NODE' || (of.intent === undefined && (of.again_at ?? '') <= timeText(Date.now()));
  const again_at = isAlone ? null : timeText(Date.now() + leaseMs);
  return { ...owe('align', of, publisherId, Date.now() + commandMs), intent, ...scope, again_at };
}

/** Has a node aligned, or one version of it. False if it is gone, or has another publisher than the named one. */
export function alignLater(
  context: Context,
  nodeId: string,
  { publisherId, only }: { publisherId?: string; only?: string },
): Promise<boolean> {
  return decide(context, { first: { item: nodeKey(nodeId) } }, ({ item }, { id: intent }) => {
    const node = nodeRecord(item);
    if (!node || (publisherId ?? node.publisher_id) !== node.publisher_id) return { result: false };
    const owed = owesAlignment(node, node.publisher_id, intent, only);
    return { writes: [updating(node, owed, onRevision(node))], result: true };
  });
}

/** All follows the record, unless another decision was made meanwhile. With a time, all follows it again then. */
export async function endIntent(
  context: Context,
  { pk, sk, intent, again_at }: Aligned,
  againAt = again_at === undefined ? 0 : Date.parse(again_at),
): Promise<Outcome> {
  if (intent === undefined) return 'done';
  const isOver = againAt <= Date.now();
  // Others may still work for it.
  const over_at = sk === 'NODE' ? timeText(Date.now() + leaseMs) : null;
  const changes = isOver
    ? { ...owesNothing, intent: null, only: null, aligned_to: null, again_at: over_at, last_error: null }
    : { pending_since: timeText(againAt), tries: 0, intent: randomUUID(), aligned_to: null };
  await write(context, updating<Aligned>({ pk, sk }, changes, [['intent', '=', intent]]));
  return 'done';
}
