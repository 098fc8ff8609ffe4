/** A sentence that names the candidate most like the word; nothing where none is like it. */
export function didYouMean(word: string, candidates: readonly string[], prefix = ''): string {
  const allowed = Math.max(2, Math.floor(word.length / 3));
  const ranked = [...new Set(candidates)]
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ candidate, distance }) => distance <= allowed && distance < candidate.length)
    .sort((a, b) => a.distance - b.distance);
  return ranked[0] ? ` Did you mean "${prefix}${ranked[0].candidate}"?` : '';
}

/** How many letters must be added, dropped, changed or swapped with their neighbour to make one word the other. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 0; row <= a.length; row += 1) {
    const distances = [row];
    rows.push(distances);
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      distances[column] = Math.min(
        at(row - 1, column - 1) + (isSame ? 0 : 1),
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        isSwapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
  }
  return at(a.length, b.length);
}
