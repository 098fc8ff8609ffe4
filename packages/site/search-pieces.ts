import { plain, searchedText, words, wordsAndTheirParts } from '@node-registry/registry-client/search-words';
import type { CatalogEntry } from '@node-registry/registry-rules/schemas/index-files';
import { runsOn } from './templates/runs-on.ts';

/*
 * The site's search reads these instead of the whole catalog: a word is in the piece of its first letters, so
 * each typed word costs one small file. A piece has no dates or numbers, and changes only if a word or the
 * order does.
 */

export interface SearchPiece {
  /** Ids, most used first. */
  nodes: string[];
  /** For each word, its nodes as `pack` encoded them, most used first. */
  words: Record<string, number[]>;
}

export const searchPieces = 1000;
/** Shorter words are found only as whole words. */
export const pieceLetters = 3;
/** A word with more nodes keeps only the most relevant ones. */
export const maxOfWord = 1000;

/** Where a node has a word, best first: a lower one counts more. */
export const kinds = { preempted: 0, whole: 1, name: 2, tag: 3, text: 4 } as const;
const kindCount = 5;

const pack = (place: number, kind: number) => place * kindCount + kind;
export const unpack = (packed: number) => ({
  place: Math.floor(packed / kindCount),
  kind: packed % kindCount,
});

/** The keys for a whole name or id, for a tag, and for a system or accelerator. */
export const wholeKey = (text: string) => `=${plain(text.trim())}`;
export const tagKey = (tag: string) => `#${tag}`;
export const runsOnKey = (kind: string) => `@${kind}`;

/** The piece of a word. Whole names are in the piece of their first word. */
export function searchPieceOf(text: string): number {
  const [first = ''] = words(plain(text));
  let sum = 7;
  for (const letter of first.slice(0, pieceLetters)) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1e9;
  return sum % searchPieces;
}

/** The pieces that have any words, by their number, from entries in the order of their use. */
export function searchPiecesOf(entries: readonly CatalogEntry[]): Map<number, SearchPiece> {
  const found = new Map<string, number[]>();
  for (const [place, entry] of entries.entries())
    for (const [key, kind] of wordsOf(entry)) {
      const packed = found.get(key);
      if (packed) packed.push(pack(place, kind));
      else found.set(key, [pack(place, kind)]);
    }
  const byPiece = Map.groupBy(found, ([key]) => searchPieceOf(key));
  return new Map([...byPiece].map(([piece, of]) => [piece, pieceWith(entries, of)]));
}

function pieceWith(entries: readonly CatalogEntry[], found: [key: string, packed: number[]][]): SearchPiece {
  const kept = found.map(([key, packed]) => [key, best(packed).map(unpack)] as const).sort(byKey);
  const used = new Set(kept.flatMap(([, of]) => of.map(({ place }) => place)));
  const places = new Map([...used].sort((a, b) => a - b).map((place, own) => [place, own]));
  return {
    nodes: [...places.keys()].map((place) => entries[place]?.id ?? ''),
    words: Object.fromEntries(
      kept.map(([key, of]) => [key, of.map(({ place, kind }) => pack(places.get(place) ?? 0, kind))]),
    ),
  };
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1);

function best(packed: number[]): number[] {
  if (packed.length <= maxOfWord) return packed;
  const byKind = packed.toSorted((a, b) => unpack(a).kind - unpack(b).kind);
  return byKind.slice(0, maxOfWord).sort((a, b) => a - b);
}

/** The words of an entry, each with its best kind. */
function wordsOf(entry: CatalogEntry): Map<string, number> {
  const { id, name = '', tags = [], preempted_host_node_names: preempted = [] } = entry;
  const kindOf = new Map<string, number>();
  const add = (kind: number, keys: readonly string[]) => {
    for (const key of keys) if (!kindOf.has(key)) kindOf.set(key, kind);
  };
  const wordsIn = (...fields: string[]) =>
    fields.flatMap((field) => wordsAndTheirParts(searchedText(entry, field)).map(plain));
  add(kinds.preempted, preempted.map(wholeKey));
  add(kinds.whole, [id, name].filter(Boolean).map(wholeKey));
  add(kinds.name, wordsIn('id', 'name'));
  add(kinds.tag, [...wordsIn('tags', 'publisher'), ...tags.map(tagKey), ...runsOn(entry).map(runsOnKey)]);
  add(kinds.text, wordsIn('description', 'host_node_words'));
  return kindOf;
}
