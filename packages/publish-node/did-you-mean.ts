import { closest, distance } from 'fastest-levenshtein';

/** Names the most similar candidate; empty if none is similar. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  if (candidates.length === 0) return '';
  const nearest = closest(word, candidates);
  const isNear = distance(word, nearest) <= Math.max(2, word.length / 3);
  return isNear ? ` Did you mean "${nearest}"?` : '';
}
