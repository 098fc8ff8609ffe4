import { randomUUID } from 'node:crypto';
import { historyKey, type Key } from '../store/keys.ts';

/** One change, as its history tells it; `of` is the publisher or node whose history it belongs to. */
export interface Change {
  of: Key;
  action: string;
  subject: string;
  detail?: string | undefined;
}

export function historyEntry(actor: string, { of, ...change }: Change) {
  const at = new Date().toISOString();
  return { key: historyKey(of, at, randomUUID()), at, actor, ...change };
}
