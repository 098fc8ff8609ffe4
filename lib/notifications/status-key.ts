import { hash } from 'node:crypto';

/** 162 bits in 27 characters. */
const nameLength = 27;

/**
 * The name of a task's status object, derived from the ticket, so that the paid request stores nothing for it. It isn't
 * derived from the ticket's hash, which receivers see.
 */
export function statusKey(ticket: string): string {
  return `status/${hash('sha256', `status:${ticket}`, 'base64url').slice(0, nameLength)}.json`;
}
