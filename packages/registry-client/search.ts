import MiniSearch, { type Query, type QueryCombination, type SearchResult } from 'minisearch';
import type { components } from './openapi.ts';
import {
  byUse,
  minFuzzyLength,
  partsOf,
  plain,
  searchedText,
  swapped,
  words,
  wordsAndTheirParts,
} from './search-words.ts';

type CatalogEntry = components['schemas']['CatalogEntry'];

/** Finds entries that have every word, even as a beginning or with a typo; best matches first. */
export function searchOver(entries: readonly CatalogEntry[]): (text: string) => CatalogEntry[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const engine = new MiniSearch<CatalogEntry>({
    fields: ['id', 'name', 'tags', 'description', 'publisher', 'host_node_words'],
    extractField: (entry, name) => searchedText(entry, name),
    tokenize: wordsAndTheirParts,
    processTerm: plain,
  });
  engine.addAll(entries);
  return (text) => {
    const fuzzy = (term: string) => (term.length >= minFuzzyLength ? 0.2 : false);
    const found = engine.search(everyOf(text), { prefix: true, fuzzy });
    const matches = found.flatMap((result) => {
      const entry = byId.get(String(result.id));
      return entry ? [{ entry, rank: rankOf(entry, text.trim(), result) }] : [];
    });
    return matches.sort((a, b) => a.rank - b.rank || byUse(a.entry, b.entry)).map(({ entry }) => entry);
  };
}

/** How well an entry matches, best first; entries of equal rank are ordered by their use. */
function rankOf(entry: CatalogEntry, text: string, { match, terms }: SearchResult): number {
  const typed = plain(text);
  if (entry.preempted_host_node_names?.some((name) => plain(name) === typed)) return 0;
  if ([entry.id, entry.name ?? ''].some((name) => plain(name) === typed)) return 1;
  const isIn = (term: string, ...names: string[]) => match[term]?.some((field) => names.includes(field));
  const best = (of: readonly string[]) =>
    Math.min(...of.map((term) => (isIn(term, 'id', 'name') ? 2 : isIn(term, 'tags', 'publisher') ? 3 : 4)));
  const ranks = words(typed).map((word) => {
    const asTyped = terms.filter((term) => term.startsWith(word));
    // What doesn't begin with the typed word has a typo.
    return asTyped.length > 0 ? best(asTyped) : best(terms) + 3;
  });
  return Math.max(...ranks);
}

/** Each word as it is or, like the pasted name of a host node, as all of its parts. */
function everyOf(text: string): QueryCombination {
  const one = (queries: string[]): QueryCombination => ({
    combineWith: 'AND',
    queries,
    tokenize: (term) => [term],
  });
  const queries = words(text).map((found): Query => {
    const parts = partsOf(found);
    const spellings = [
      [found],
      ...(parts.length > 0 ? [parts] : []),
      ...swapped(found).map((each) => [each]),
    ];
    return { combineWith: 'OR', queries: spellings.map(one) };
  });
  return { combineWith: 'AND', queries };
}
