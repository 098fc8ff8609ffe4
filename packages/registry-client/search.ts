import MiniSearch, { type Query, type QueryCombination } from 'minisearch';
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
      boostDocument: (id) => 1 + Math.log1p(Math.max(0, byId.get(String(id))?.search_ranking ?? 0)) / 10,
    });
    return found.flatMap(({ id }) => byId.get(String(id)) ?? []);
  };
}

function textOf(entry: CatalogEntry, field: string): string {
  if (field === 'tags') return entry.tags?.join(' ') ?? '';
  if (field === 'publisher') return `${entry.publisher.id} ${entry.publisher.name ?? ''}`;
  return String(entry[field as 'id' | 'name' | 'description' | 'host_node_words'] ?? '');
}

/** Scripts without spaces between words are searched by character. */
const word = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}\p{M}]+/gu;

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
    return parts.length > 1 ? { combineWith: 'OR', queries: [one([found]), one(parts)] } : one([found]);
  });
  return { combineWith: 'AND', queries };
}

/** Without case and accents. */
function plain(term: string): string {
  return term.toLowerCase().normalize('NFKD').replace(/\p{M}/gu, '');
}
