import type { Context } from '../context.ts';
import { historyKeysOf, type Key } from '../store/keys.ts';
import { queryPage } from '../store/read.ts';
import { type HistoryRecord, historyRecord } from './records.ts';

const maxShown = 200;

/** The latest changes of a publisher or a node, the latest first. */
export async function latestHistory(context: Context, of: Key): Promise<HistoryRecord[]> {
  const range = { below: historyKeysOf(of) };
  const { items } = await queryPage(context, range, { limit: maxShown, descending: true });
  return items.map(historyRecord);
}

/** An issuer chooses what follows the prefix, and the administration's names have none. */
const isOfPublisher = /^(?:user:|ci:|token:|erased$)/;

/** What owners see of it: of the administration neither who, nor what it wrote for itself. */
export function ownersView({ at, actor, action, subject, detail, public_reason }: HistoryRecord) {
  if (isOfPublisher.test(actor)) return { at, actor, action, subject, ...(detail && { detail }) };
  return { at, actor: 'the registry', action, subject, ...(public_reason && { detail: public_reason }) };
}
