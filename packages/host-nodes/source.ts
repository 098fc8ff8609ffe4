import { type Constant, parse, type StmtNode } from 'py-ast';
import { limits } from './limits.ts';

/** A file's statements, and the text they came from where the tree alone does not say enough. */
export interface Source {
  body: readonly StmtNode[];
  lines: readonly string[];
}

/** `match a, b:` and `case a, b:`, which the parser takes with brackets only. */
const bareTuple = /^([ \t]*)(match|case)[ \t]+([^#'"(:[{]*,[^#'":]*):([ \t]*(?:#.*)?)$/gm;

/** Parses a file as Python does; throws an Error with a sentence where it cannot. */
export function parseSource(text: string): Source {
  if (text.length > limits.fileCharacters) throw new Error('the file is too long');
  const clean = text
    .replace(/^\uFEFF/, '')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/^[ \t]*\f/gm, '')
    .replaceAll('\f', ' ');
  return { body: parseBody(clean), lines: clean.split('\n') };
}

function parseBody(text: string): readonly StmtNode[] {
  try {
    return parse(text).body;
  } catch (error) {
    // The parser calls itself for every bracket, and a few hundred are enough.
    if (error instanceof RangeError) throw new Error('its code nests too deeply', { cause: error });
    const bracketed = text.replaceAll(bareTuple, '$1$2 ($3):$4');
    if (bracketed === text) throw error;
    return parse(bracketed).body;
  }
}

/** About how many tokens a text has, which is what parsing it costs. */
export function countTokens(text: string): number {
  let count = 0;
  for (const _ of text.matchAll(/[\w.]+|[^\s\w.]/g)) count += 1;
  return count;
}

/** Whether a whole number was written as a float, such as `1.0`, of which the tree keeps only the 1. */
export function isWrittenAsFloat(
  { lineno, col_offset, end_col_offset }: Constant,
  lines: readonly string[],
): boolean {
  const line = lines[lineno - 1] ?? '';
  const isAscii = !/[^\0-\x7f]/.test(line.slice(0, 10_000));
  const written = isAscii
    ? line.slice(col_offset, end_col_offset)
    : new TextDecoder().decode(new TextEncoder().encode(line).subarray(col_offset, end_col_offset));
  return /^[\d_]*(?:\.[\d_]*(?:e[+-]?[\d_]+)?|e[+-]?[\d_]+)$/i.test(written) && /\d/.test(written);
}
