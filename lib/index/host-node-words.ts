import type { HostNodeRecord } from '../registry/records.ts';
import type { CatalogEntry } from '../schemas/index-files.ts';

/** Holds every word of nearly all packs, and makes the catalog of a large registry two thirds larger (docs/capacity.md). */
const maxLetters = 2000;

/**
 * The words of the names and titles of a node's host nodes, for searches. Without those that the entry has anyway or
 * that begin another one: a search finds words by their beginning.
 */
export function hostNodeWords(entry: CatalogEntry, hostNodes: readonly HostNodeRecord[]): string {
  const { id, name = '', description = '', tags = [] } = entry;
  const known = wordsOf([id, name, description, ...tags].join(' '));
  const texts = hostNodes.flatMap(({ host_node_name = '', display_name = '' }) => [
    host_node_name,
    display_name,
  ]);
  const found = new Set(wordsOf(texts.join(' ')));
  const sorted = [...known, ...found].sort();
  // A word that the entry has stands there twice, and so begins the other.
  const isBeginning = new Set(sorted.filter((word, place) => sorted[place + 1]?.startsWith(word)));
  let text = '';
  for (const word of found)
    if (!isBeginning.has(word) && text.length + word.length < maxLetters) text += `${text && ' '}${word}`;
  return text;
}

/** `VideoUpscaler` is two words, as in the reader's search. */
function wordsOf(text: string): string[] {
  return (text.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu) ?? []).map((word) =>
    word.toLowerCase(),
  );
}
