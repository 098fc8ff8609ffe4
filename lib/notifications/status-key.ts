import { hash } from 'node:crypto';

/** 162 bits in 27 characters. */
const nameLength = 27;

/**
 * The object that shows a task's status, under a name that only the holders of the ticket and of the paid answer know. It
 * comes from the ticket, so the paid request stores nothing for it, and not from the ticket's hash, which receivers see.
 */
export function statusKey(ticket: string): string {
  return `status/${hash('sha256', `status:${ticket}`, 'base64url').slice(0, nameLength)}.json`;
}
