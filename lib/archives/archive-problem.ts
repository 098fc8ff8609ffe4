/** What is wrong with an archive, as a sentence that says what its publisher must change. */
export class ArchiveProblem extends Error {
  override readonly name = 'ArchiveProblem';

  constructor(sentence: string, options?: ErrorOptions) {
    super(`The archive was refused: ${sentence} Then publish this version again.`, options);
  }
}

const maxQuoteLength = 100;

/** A name out of the archive for such a sentence: it may be of any length and hold anything. */
export function quote(name: string): string {
  const printable = name.slice(0, maxQuoteLength).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
  return `"${printable}${name.length > maxQuoteLength ? '…' : ''}"`;
}

export function encrypted(): ArchiveProblem {
  return new ArchiveProblem('it is encrypted. Make the zip without a password.');
}

export function damaged(name: string): ArchiveProblem {
  return new ArchiveProblem(`${quote(name)} is damaged. Make the zip again, and upload the whole file.`);
}

/** Some programs would read another size, or another end of the data, than the list of files has. */
export function untrueSize(name: string): ArchiveProblem {
  return new ArchiveProblem(
    `${quote(name)} unpacks to another size than the zip states. Make the zip again.`,
  );
}

export function overlapping(name: string): ArchiveProblem {
  return new ArchiveProblem(`${quote(name)} overlaps with another file in it. Make the zip again.`);
}

export function hiddenBytes(): ArchiveProblem {
  return new ArchiveProblem('there are bytes in it that belong to no file. Make the zip again.');
}

export function twoNames(name: string): ArchiveProblem {
  return new ArchiveProblem(`${quote(name)} has two different names in it. Make the zip again.`);
}

export function zip64(): ArchiveProblem {
  return new ArchiveProblem('it uses the zip64 format, which it is too small to need. Make it a plain zip.');
}
