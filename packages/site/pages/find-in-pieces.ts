import { distance } from 'fastest-levenshtein';
import { minFuzzyLength, partsOf, plain, swapped, words } from '@node-registry/registry-client/search-words';
import type { SearchPiece } from '../search-pieces.ts';
import {
  maxOfWord,
  pieceLetters,
  runsOnKey,
  searchPieceOf,
  tagKey,
  unpack,
  wholeKey,
} from '../search-pieces.ts';

type Load = (piece: number) => Promise<SearchPiece>;

/** Nodes by id, with their match (lower is better) and the order of their use. */
interface Matches {
  of: Map<string, { rank: number; place: number }>;
  /** Whether there are more nodes than its pieces contain. */
  isCut: boolean;
}

const misspelled = 3;
const unknownRank = 9;

/** What results must have, in addition to every word: a tag, a system and an accelerator. Empty for any. */
export interface Filters {
  tag: string;
  system: string;
  accelerator: string;
}

/**
 * The ids of the nodes that have every word and pass the filters, best first. A node that a cut list lacks is
 * among them, so the reader of its file compares again.
 */
export async function findInPieces(load: Load, text: string, { tag, system, accelerator }: Filters) {
  const typed = [...new Set(words(text))];
  const runsOn = [system, accelerator].filter(Boolean);
  const all = await Promise.all([
    ...(tag === '' ? [] : [exactly(load, tag, tagKey(tag))]),
    ...runsOn.map((kind) => exactly(load, kind, runsOnKey(kind))),
    ...typed.map((word) => spelled(load, word)),
  ]);
  // The beginning of a word excludes nothing yet.
  const known = all.filter(({ of }, place) => of.size > 0 || !isShort(typed.at(place - all.length)));
  const { of, isCut } = known.slice(1).reduce(both, known[0] ?? none());
  const whole = text.trim() === '' ? none() : await exactly(load, text, wholeKey(text));
  const isFiltered = tag !== '' || runsOn.length > 0;
  for (const [id, match] of whole.of) if (!isFiltered || of.has(id)) of.set(id, match);
  const ids = [...of].sort(([, a], [, b]) => a.rank - b.rank || a.place - b.place).map(([id]) => id);
  return { ids, isCut };
}

/** Whether only a whole text finds nodes. */
export const isShort = (text = '') => text !== '' && plain(text).length < pieceLetters;

const none = (): Matches => ({ of: new Map(), isCut: false });

async function exactly(load: Load, text: string, key: string): Promise<Matches> {
  const { nodes, words } = await load(searchPieceOf(text));
  return matching(nodes, Object.hasOwn(words, key) ? [[words[key] ?? [], 0]] : []);
}

/** The nodes of a word, and how much worse than an exact match they are. */
type Found = readonly [packed: readonly number[], more: number];

function matching(nodes: readonly string[], found: readonly Found[]): Matches {
  const of: Matches['of'] = new Map();
  for (const [packed, more] of found)
    for (const { place, kind } of packed.map(unpack)) {
      const [id = '', rank] = [nodes[place], kind + more];
      if (rank < (of.get(id)?.rank ?? unknownRank)) of.set(id, { rank, place });
    }
  return { of, isCut: found.some(([packed]) => packed.length >= maxOfWord) };
}

/** A word; or all parts of it, like the name of a host node; or its probable spellings. */
async function spelled(load: Load, word: string): Promise<Matches> {
  const found = await beginning(load, plain(word));
  const parts = partsOf(word);
  if (found.of.size > 0) return found;
  if (parts.length > 0)
    return (await Promise.all(parts.map((part) => beginning(load, plain(part))))).reduce(both);
  for (const others of plain(word).length < minFuzzyLength
    ? []
    : [swapped(plain(word)), dropped(plain(word))]) {
    const first = new Set(others.map((each) => each.slice(0, pieceLetters)));
    const of = await Promise.all([...first].map((letters) => beginning(load, plain(word), letters)));
    const [match] = of.filter(({ of }) => of.size > 0);
    if (match) return match;
  }
  return none();
}

/** Without one of the first letters, whose typos lead to another piece. */
function dropped(word: string): string[] {
  return Array.from(word.slice(0, pieceLetters), (_, place) => word.slice(0, place) + word.slice(place + 1));
}

async function beginning(load: Load, word: string, letters = word): Promise<Matches> {
  const piece = await load(searchPieceOf(letters));
  const max = word.length < minFuzzyLength ? 0 : Math.round(word.length / 5);
  const found = Object.entries(piece.words).flatMap(([known, packed]): Found[] => {
    if (known.startsWith(word)) return [[packed, 0]];
    return max > 0 && isNear(word, known, max) ? [[packed, misspelled]] : [];
  });
  return matching(piece.nodes, found);
}

/** The nodes in both. A node that a cut list lacks may be one of its others, and comes last. */
function both(a: Matches, b: Matches): Matches {
  const [base, other] = a.isCut && !b.isCut ? [b, a] : [a, b];
  const of: Matches['of'] = new Map();
  for (const [id, { rank, place }] of base.of) {
    const also = other.of.get(id)?.rank ?? (other.isCut && !base.isCut ? unknownRank : undefined);
    if (also !== undefined) of.set(id, { rank: Math.max(rank, also), place });
  }
  return { of, isCut: base.isCut };
}

/** Whether at most this many letters were added, dropped, changed or swapped. */
function isNear(typed: string, known: string, max: number): boolean {
  if (Math.abs(typed.length - known.length) > max) return false;
  return distance(typed, known) <= max || swapped(typed).some((other) => distance(other, known) < max);
}
