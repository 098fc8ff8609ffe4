import type { Context } from '../context.ts';
import { historyKeysOf, type Key } from '../store/keys.ts';
import { queryPage } from '../store/read.ts';
import { type HistoryRecord, historyRecord, isOfPublisher } from './records.ts';

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
