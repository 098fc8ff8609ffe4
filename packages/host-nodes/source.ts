import { type Constant, parse, type StmtNode } from 'py-ast';
import { limits } from './limits.ts';

/** A file's statements, and the source lines for details that the tree lacks. */
export interface Source {
  body: readonly StmtNode[];
  lines: readonly string[];
}

/**
 * Syntax that the parser rejects, `del a, b,` and `match a, b:`, and an equivalent with brackets. Each is for a
 * single line, which may be as long as a file, and reads its letters a few times at most.
 */
const rewritings: readonly [pattern: RegExp, same: string][] = [
  [/^([ \t]*del[ \t][^#;]*),[ \t]*(#.*)?$/, '$1 $2'],
  [
    /^([ \t]*(?:match|case|for[ \t](?:(?![ \t]in[ \t])[^#'":])+[ \t]in))[ \t]([^#'"(,:[{]*,[^#'":]*):([ \t]*(?:#.*)?)$/,
    '$1 ($2):$3',
  ],
];

/** Parses a file as Python does; otherwise throws an Error with a sentence. */
export function parseSource(text: string): Source {
  if (text.length > limits.fileCharacters) throw new Error('the file is too long');
  const lines = text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n');
  const clean = lines.includes('\f') ? lines.replaceAll(/^[ \t]*\f/gm, '').replaceAll('\f', ' ') : lines;
  return { body: parseBody(clean), lines: clean.split('\n') };
}

function parseBody(text: string): readonly StmtNode[] {
  try {
    return parse(text).body;
  } catch (error) {
    // The parser recurses for every bracket, so a few hundred are enough.
    if (error instanceof RangeError) throw new Error('its code nests too deeply', { cause: error });
    const rewrite = (line: string) => rewritings.reduce((code, [from, to]) => code.replace(from, to), line);
    const rewritten = text.split('\n').map(rewrite).join('\n');
    if (rewritten === text) throw error;
    return parse(rewritten).body;
  }
}

/** The approximate number of tokens, which is the cost of parsing. */
export function countTokens(text: string): number {
  let count = 0;
  let isWord = false;
  for (let index = 0; index < text.length; index += 1) {
    const kind = kinds[text.charCodeAt(index)] ?? 2;
    if (kind === 2 || (kind === 1 && !isWord)) count += 1;
    isWord = kind === 1;
  }
  return count;
}

/** For each ASCII character: 0 for a space, 1 for a part of a word, 2 for a sign. */
const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /\s/.test(character) ? 0 : /[\w.]/.test(character) ? 1 : 2;
});

/** A part of a tree, of any kind. */
export type Part = { readonly [Field in string]?: unknown } & { readonly nodeType: string };

export function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && 'nodeType' in value;
}

/** Every part of a tree, inside functions and classes only if asked, without recursion: trees may be very deep. */
export function partsOf(roots: readonly object[], max: number = limits.riskParts, isWhole = false): Part[] {
  const stack = roots.filter(isPart).reverse();
  const parts: Part[] = [];
  while (parts.length < max) {
    const part = stack.pop();
    if (part === undefined) break;
    parts.push(part);
    const isLeaf = part.nodeType === 'Name' || part.nodeType === 'Constant';
    if (!isLeaf && (isWhole || !part.type_params)) pushInner(part, stack);
  }
  return parts;
}

/** Pushes the children of a part onto a stack, the first on top. */
function pushInner(part: Part, stack: Part[]): void {
  const from = stack.length;
  for (const field in part) {
    const value = part[field];
    if (Array.isArray(value)) {
      for (const one of value) if (isPart(one)) stack.push(one);
    } else if (isPart(value)) stack.push(value);
  }
  for (let low = from, high = stack.length - 1; low < high; low += 1, high -= 1)
    [stack[low], stack[high]] = [stack[high] as Part, stack[low] as Part];
}

/** Whether a whole number was written as a float, such as `1.0`; the tree keeps only the 1. */
export function isWrittenAsFloat(node: Constant, lines: readonly string[]): boolean {
  const { lineno, col_offset, end_col_offset } = node;
  const line = lines[lineno - 1] ?? '';
  const isAscii = !/[^\0-\x7f]/.test(line.slice(0, 10_000));
  const written = isAscii
    ? line.slice(col_offset, end_col_offset)
    : new TextDecoder().decode(new TextEncoder().encode(line).subarray(col_offset, end_col_offset));
  return /^[\d_]*(?:\.[\d_]*(?:e[+-]?[\d_]+)?|e[+-]?[\d_]+)$/i.test(written) && /\d/.test(written);
}
