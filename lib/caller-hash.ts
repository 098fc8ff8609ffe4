import { hash } from 'node:crypto';

/** Names a caller in keys: token issuers give names of any length. */
export function callerHash(caller: string): string {
  return hash('sha256', caller);
}
