/** How a search splits texts: for the catalog, and for the pieces that the site searches. */

interface Entry {
  id: string;
  name?: string | undefined;
  description?: string | undefined;
  tags?: string[] | undefined;
  publisher: { id: string; name?: string | undefined };
  host_node_words?: string | undefined;
  preempted_host_node_names?: string[] | undefined;
  search_ranking?: number | undefined;
  downloads_90_days?: number | undefined;
}

export function searchedText(entry: Entry, field: string): string {
  if (field === 'tags') return entry.tags?.join(' ') ?? '';
  if (field === 'host_node_words')
    return [entry.host_node_words, ...(entry.preempted_host_node_names ?? [])].join(' ');
  if (field === 'publisher') return `${entry.publisher.id} ${entry.publisher.name ?? ''}`;
  return String(entry[field as 'id' | 'name' | 'description'] ?? '');
}

/** Scripts without spaces between words are searched by character, as are emoji. `c++` is a word. */
const word =
  /\p{Extended_Pictographic}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}\p{M}]+(?:\+\+|#)?/gu;

export function words(text: string): string[] {
  return text.match(word) ?? [];
}

/** `upscaler` also finds `VideoUpscaler`. */
export function wordsAndTheirParts(text: string): string[] {
  return words(text).flatMap((found) => [found, ...partsOf(found)]);
}

/** Of a word that is joined from several. */
export function partsOf(found: string): string[] {
  const parts = found.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{N}+/gu) ?? [];
  return parts.length > 1 ? parts : [];
}

/** Words with this many letters are also found if they are misspelled. */
export const minFuzzyLength = 4;
const maxSwapped = 12;

/** With two neighboring letters swapped, the most frequent typo, which counts as two for a fuzzy search. */
export function swapped(found: string): string[] {
  if (found.length < minFuzzyLength || found.length > maxSwapped) return [];
  return Array.from(
    { length: found.length - 1 },
    (_, place) => found.slice(0, place) + found[place + 1] + found[place] + found.slice(place + 2),
  );
}

/** Without case, accents and styles: some letters of a style have no lower case. */
export function plain(term: string): string {
  return term.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

/** By the administrators' ranking, then by the downloads of 90 days, then by name. */
export function byUse(a: Entry, b: Entry): number {
  const [one, other] = [a, b].map(({ name, id }) => (name || id).toLowerCase());
  return (
    (b.search_ranking ?? 0) - (a.search_ranking ?? 0) ||
    (b.downloads_90_days ?? 0) - (a.downloads_90_days ?? 0) ||
    (String(one) < String(other) ? -1 : 1)
  );
}
