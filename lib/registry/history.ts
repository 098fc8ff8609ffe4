import { randomUUID } from 'node:crypto';
import { absent } from '../store/items.ts';
import { historyKey, type Key } from '../store/keys.ts';
import { updating, type Write } from '../store/write.ts';
import type { HistoryRecord } from './records.ts';

/** One change, as its history tells it; `of` is the publisher or node whose history it belongs to. */
export interface Change {
  of: Key;
  action: string;
  subject: string;
  detail?: string | undefined;
}

/** Part of the transaction that makes the change. */
export function historyOf(actor: string, { of, ...change }: Change): Write {
  const at = new Date().toISOString();
  return updating<HistoryRecord>(historyKey(of, at, randomUUID()), { at, actor, ...change }, absent);
}
