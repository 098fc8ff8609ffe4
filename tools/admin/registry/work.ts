import type { Item } from '../../../lib/store/items.ts';
import { query, queryPage } from '../../../lib/store/read.ts';
import { givenUpShard, type LaneName, shardsOf, timeText } from '../../../lib/work/lanes.ts';
import { newContext } from './administration.ts';

/** No work waits longer, and no clock is that far ahead. */
const furthestMs = 8 * 24 * 60 * 60 * 1000;

function rangeOf(shard: string) {
  return { shard, until: timeText(Date.now() + furthestMs) };
}

/** The first items that owe work in a lane, by the time to look at them; or those given up, the latest first. */
export async function listWork(lane: LaneName, isGivenUp: boolean, max: number): Promise<Item[]> {
  const shards = isGivenUp ? [givenUpShard(lane)] : shardsOf(lane);
  const order = { limit: max, descending: isGivenUp };
  const read = (shard: string) => queryPage(newContext(), rangeOf(shard), order);
  const items = (await Promise.all(shards.map(read))).flatMap((page) => page.items);
  const since = ({ pending_since }: Item) => String(pending_since);
  const sign = isGivenUp ? -1 : 1;
  return items.sort((a, b) => sign * since(a).localeCompare(since(b))).slice(0, max);
}

/** All items that were given up in a lane, page by page. */
export function givenUpPages(lane: LaneName): AsyncGenerator<Item[]> {
  return query(newContext(), rangeOf(givenUpShard(lane)));
}
