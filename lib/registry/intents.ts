import type { Context } from '../context.ts';
import type { Key } from '../store/keys.ts';
import { update } from '../store/write.ts';
import { owe, owesNothing, timeText } from '../work/owe.ts';
import type { Outcome } from '../work/worker.ts';
import type { Aligned } from './records.ts';

/*
 * What an administrator decides of a node or a publisher is one write. Its record then owes the alignment of what depends
 * on it (alignment.ts), until that has ended. The intent is the id of the decision: work for an earlier one doesn't end a
 * later one.
 */

/** By then, the command that made the decision has most likely done it all. */
const commandMs = 60_000;

/** Goes into the write of a decision. */
export function owesAlignment(key: Key, publisherId: string, intent: string) {
  return { ...owe('align', key, publisherId, Date.now() + commandMs), intent };
}

/** All follows the record, unless another decision was made meanwhile. With a time, that is to be looked at again then. */
export async function endIntent(
  context: Context,
  { pk, sk, intent }: Aligned,
  againAt = 0,
): Promise<Outcome> {
  if (intent === undefined) return 'superseded';
  const isOver = againAt <= Date.now();
  const changes = isOver
    ? { ...owesNothing, intent: null, last_error: null }
    : { pending_since: timeText(againAt), tries: 0 };
  const { written } = await update<Aligned>(context, { pk, sk }, changes, [['intent', '=', intent]]);
  return written ? 'done' : 'superseded';
}
