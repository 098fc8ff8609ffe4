/** What is wrong with an archive, as a sentence that tells its publisher what to change. */
export class ArchiveProblem extends Error {
  override readonly name = 'ArchiveProblem';

  constructor(sentence: string, options?: ErrorOptions) {
    super(`The archive was refused: ${sentence} Then publish this version again.`, options);
  }
}

const longestQuote = 100;

/** A name out of the archive for such a sentence: it may be of any length and hold anything. */
export function quote(name: string): string {
  const printable = name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
  return `"${printable.length > longestQuote ? `${printable.slice(0, longestQuote)}…` : printable}"`;
}

export function encrypted(): ArchiveProblem {
  return new ArchiveProblem('it is encrypted. Make the zip without a password.');
}
