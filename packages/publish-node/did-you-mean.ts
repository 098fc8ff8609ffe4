import { closest, distance } from 'fastest-levenshtein';

const maxLength = 300;

/** Names the most similar candidate; empty if none is similar. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const most = Math.max(2, word.length / 3);
  const near = candidates.filter(({ length }) => Math.abs(length - word.length) <= most);
  // Comparing takes time by both lengths.
  if (near.length === 0 || word.length > maxLength) return '';
  const nearest = closest(word, near);
  const isNear = distance(word, nearest) <= most;
  return isNear ? ` Did you mean "${nearest}"?` : '';
}
