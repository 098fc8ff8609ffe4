import { hash, randomBytes, randomUUID } from 'node:crypto';
import { ticketHash } from '../notifications/records.ts';

/** A request with an Idempotency-Key: whose it is, and what must be equal for a replay. */
export interface Keyed {
  key: string;
  /** The owner of the key: two callers may choose the same one. */
  scope: string;
  /** The request in a form that is equal for equal requests. */
  request: string;
}

/** One attempt to answer a request: every name by which it is stored, logged and found again. */
export interface Attempt {
  /** Names it in all that is stored for it. */
  id: string;
  operation: string;
  caller: string;
  requestId: string;
  /** Names the Idempotency-Key without showing it. */
  keyHash: string | undefined;
  /** Of a task whose provider notifies this service. */
  ticket: Ticket | undefined;
}

export interface Ticket {
  /** Known to the provider alone, and stored nowhere: who has it reports the task's state. */
  secret: string;
  hash: string;
}

/** So many bytes cannot be guessed, and make 43 characters. */
const ticketBytes = 32;

export function nameAttempt(
  request: Pick<Attempt, 'operation' | 'caller' | 'requestId'>,
  { keyed, isRelayed }: { keyed?: Keyed | undefined; isRelayed: boolean },
): Attempt {
  const keyHash = keyed && hashOfKey(keyed);
  return { id: randomUUID(), ...request, keyHash, ticket: isRelayed ? newTicket() : undefined };
}

function newTicket(): Ticket {
  const secret = randomBytes(ticketBytes).toString('base64url');
  return { secret, hash: ticketHash(secret) };
}

export function hashOfKey({ scope, key }: Keyed): string {
  return hash('sha256', `${scope}\n${key}`);
}
