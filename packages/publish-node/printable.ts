import { invisible } from '@node-registry/registry-rules/archives/archive-problem';

/*
 * File names, texts of a pack and messages of a server may be hostile. Printed unchanged, they could move the
 * cursor, reverse text, forge a line, or give a CI's runner a command.
 */

const unprintable = new RegExp(`[\\p{C}\\p{Zl}\\p{Zp}${invisible.source}]`, 'gv');

/** A text as one line that shows each of its characters, and that no runner takes for a command. */
export function printable(text: string): string {
  return text
    .replace(/[\t\r\n]+/g, ' ')
    .replace(unprintable, '?')
    .replace(/^(\s*):(?=:)/, '$1: ')
    .replace(/##(?=\w*\[)/g, '# #');
}

/** The same JSON, with those characters written as escapes. */
export function printableJson(json: string): string {
  return json
    .replace(unprintable, (character) => (character === '\n' ? character : escaped(character)))
    .replace(/##(?=\w*\[)/g, '#\\u0023');
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
