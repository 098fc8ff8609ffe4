import MiniSearch, { type Query, type QueryCombination, type SearchResult } from 'minisearch';
import type { components } from './openapi.ts';

type CatalogEntry = components['schemas']['CatalogEntry'];

const fields = ['id', 'name', 'tags', 'description', 'publisher', 'host_node_words'] as const;
const minFuzzyLength = 4;

/** Finds entries that have every word, also where a word only begins so or has a typo in it; best matches first. */
export function searchOver(entries: readonly CatalogEntry[]): (text: string) => CatalogEntry[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const engine = new MiniSearch<CatalogEntry>({
    fields: [...fields],
    extractField: (entry, name) => textOf(entry, name),
    tokenize: wordsAndTheirParts,
    processTerm: plain,
  });
  engine.addAll(entries);
  return (text) => {
    const found = engine.search(everyOf(text), {
      prefix: true,
      fuzzy: (term) => (term.length >= minFuzzyLength ? 0.2 : false),
      boost: { id: 4, name: 4, tags: 2, host_node_words: 0.5 },
    });
    const matches = found.flatMap((result) => {
      const entry = byId.get(String(result.id));
      return entry ? [{ entry, rank: rankOf(entry, text.trim(), result) }] : [];
    });
    return matches.sort((a, b) => a.rank - b.rank || byUse(a.entry, b.entry)).map(({ entry }) => entry);
  };
}

/** How well an entry matches, best first; entries of one rank are ordered by their use. */
function rankOf(entry: CatalogEntry, text: string, { match, terms }: SearchResult): number {
  const typed = plain(text);
  if (entry.preempted_host_node_names?.some((name) => plain(name) === typed)) return 0;
  if ([entry.id, entry.name ?? ''].some((name) => plain(name) === typed)) return 1;
  const isOf = (...names: string[]) =>
    terms.every((term) => match[term]?.some((field) => names.includes(field)));
  // A word with a typo is one that does not begin with what was typed.
  const isTyped = terms.every((term) => words(typed).some((word) => term.startsWith(word)));
  return (isOf('id', 'name') ? 2 : isOf('id', 'name', 'tags', 'publisher') ? 3 : 4) + (isTyped ? 0 : 3);
}

/** By what administrators ranked, then by the downloads of 90 days, then by name. */
export function byUse(a: CatalogEntry, b: CatalogEntry): number {
  const [one, other] = [a, b].map(({ name, id }) => (name || id).toLowerCase());
  return (
    (b.search_ranking ?? 0) - (a.search_ranking ?? 0) ||
    (b.downloads_90_days ?? 0) - (a.downloads_90_days ?? 0) ||
    (String(one) < String(other) ? -1 : 1)
  );
}

function textOf(entry: CatalogEntry, field: string): string {
  if (field === 'tags') return entry.tags?.join(' ') ?? '';
  if (field === 'host_node_words')
    return [entry.host_node_words, ...(entry.preempted_host_node_names ?? [])].join(' ');
  if (field === 'publisher') return `${entry.publisher.id} ${entry.publisher.name ?? ''}`;
  return String(entry[field as 'id' | 'name' | 'description'] ?? '');
}

/** Scripts without spaces between words are searched by character. `c++` is a word. */
const word =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}\p{M}]+(?:\+\+|#)?/gu;

function words(text: string): string[] {
  return text.match(word) ?? [];
}

/** `VideoUpscaler` is found by `upscaler`, too. */
function wordsAndTheirParts(text: string): string[] {
  return words(text).flatMap((found) => {
    const parts = partsOf(found);
    return parts.length > 1 ? [found, ...parts] : [found];
  });
}

function partsOf(found: string): string[] {
  return found.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{N}+/gu) ?? [];
}

/** Each word as it is or, like the name of a host node that someone pasted, as all of its parts. */
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
      ...(parts.length > 1 ? [parts] : []),
      ...swapped(found).map((each) => [each]),
    ];
    return { combineWith: 'OR', queries: spellings.map(one) };
  });
  return { combineWith: 'AND', queries };
}

/** With two letters the other way round, the most frequent typo, which counts as two for a fuzzy search. */
function swapped(found: string): string[] {
  if (found.length < minFuzzyLength || found.length > maxSwapped) return [];
  return Array.from(
    { length: found.length - 1 },
    (_, place) => found.slice(0, place) + found[place + 1] + found[place] + found.slice(place + 2),
  );
}

const maxSwapped = 12;

/** Without case and accents. */
function plain(term: string): string {
  return term.toLowerCase().normalize('NFKD').replace(/\p{M}/gu, '');
}
