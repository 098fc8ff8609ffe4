/** Short words are near many others. */
const minEditedLength = 4;

/**
 * Whether a name is the other one with other case or separators, or with one edit: a character that was added, lost,
 * changed, or swapped with its neighbor. Nothing wider, because real clients have fields of their own.
 */
export function isNearMiss(name: string, meant: string): boolean {
  if (Math.abs(name.length - meant.length) > maxSeparators) return false;
  return lettersOf(name) === lettersOf(meant) || (meant.length >= minEditedLength && isOneEdit(name, meant));
}

/** More than a name has places for. It bounds the work for a name of megabytes. */
const maxSeparators = 100;

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

function isOneEdit(name: string, meant: string): boolean {
  if (Math.abs(name.length - meant.length) > 1) return false;
  let same = 0;
  while (same < name.length && name[same] === meant[same]) same += 1;
  const [a, b] = [name.slice(same), meant.slice(same)];
  const isSwapped = a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2);
  return a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1) || isSwapped;
}
