import { ticketHash } from './records.ts';

/** So few characters reveal no ticket, and don't occur elsewhere by chance. */
const recognizedLength = 12;

/** A longer address than ours stands in its place, so a text that repeats ours would grow without an end. */
const maxShown = 8;

/** How JSON may write a character, even in text that is JSON itself. */
const escapeStart = '\\\\{1,8}u00';
const escapes = new RegExp(`${escapeStart}([0-9a-fA-F]{2})`, 'g');
const ticketCharacter = `(?:[\\w-]|${escapeStart}(?:2[dD]|3\\d|[46][1-9a-fA-F]|[57][0-9aA]|5[fF]))`;

/**
 * Replaces our URL, whose ticket lets its holder speak for the provider, by the caller's own. It changes the text and not
 * parsed JSON, so that numbers keep their digits.
 */
export function replaceOurUrl(text: string, ticket: string, address: string | undefined): string {
  const beginning = ticket.slice(0, recognizedLength);
  if (!text.includes(beginning) && !text.includes('\\u00')) return text;
  const spelled = [...beginning].map(spellings).join('');
  // Error texts are shortened, and may end in the middle of our address.
  const ours = new RegExp(`(https?(?:(?!https?)[^"\\s<>])*?)?${spelled}${ticketCharacter}*`, 'g');
  // No quotes and no backslashes: its place may be in JSON, however deep.
  const inside = address?.replace(/["\\\s]/g, encodeURIComponent) ?? '…';
  let shown = 0;
  return text.replace(ours, (_, start?: string) => {
    if (start === undefined || shown === maxShown) return '…';
    shown += 1;
    return inside;
  });
}

function spellings(character: string): string {
  const digits = character.charCodeAt(0).toString(16);
  return `(?:${character}|${escapeStart}(?:${digits}|${digits.toUpperCase()}))`;
}

/** The ticket of a task, if a text that repeats the request contains it. It is stored nowhere. */
export function findTicket(text: string, hashed: string): string | undefined {
  const plain = text.replace(escapes, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));
  for (const [, found = ''] of plain.matchAll(/\/([\w-]{43})(?![\w-])/g))
    if (ticketHash(found) === hashed) return found;
  return undefined;
}
