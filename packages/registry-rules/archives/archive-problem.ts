/** A problem with an archive. Its sentence tells the publisher what to change. */
export class ArchiveProblem extends Error {
  override readonly name = 'ArchiveProblem';

  /** The sentence without the text around it for an uploaded archive. */
  readonly sentence: string;

  constructor(sentence: string, options?: ErrorOptions) {
    super(`The archive was rejected: ${sentence} Then publish this version again.`, options);
    this.sentence = sentence;
  }
}

const maxQuoteLength = 100;

/**
 * Characters without width, ink or direction of their own: they only make one name look like another. Emoji
 * need the variation selectors. The last two are annotation marks and the empty braille pattern.
 */
export const invisible = /[[\p{Default_Ignorable_Code_Point}--[\uFE00-\uFE0F]]\uFFF9-\uFFFB\u2800]/v;
const unprintable = new RegExp(`[\\p{C}\\p{Zl}\\p{Zp}${invisible.source}]`, 'gv');

/** Shortens and cleans a name from the archive for such a sentence. */
export function quote(name: string): string {
  const printable = name.slice(0, maxQuoteLength).replace(unprintable, '?');
  return `"${printable}${name.length > maxQuoteLength ? '…' : ''}"`;
}

export function encrypted(): ArchiveProblem {
  return new ArchiveProblem('it is encrypted. Make the zip without a password.');
}

export function damaged(name: string): ArchiveProblem {
  return new ArchiveProblem(`${quote(name)} is damaged. Make the zip again, and upload the whole file.`);
}

/** Some programs would read another size, or another end of the data, than the list of files states. */
export function untrueSize(name: string): ArchiveProblem {
  return new ArchiveProblem(
    `${quote(name)} unpacks to a different size than the zip states. Make the zip again.`,
  );
}

export function overlapping(name: string): ArchiveProblem {
  return new ArchiveProblem(`${quote(name)} overlaps with another file in it. Make the zip again.`);
}

export function hiddenBytes(): ArchiveProblem {
  return new ArchiveProblem('it has bytes that belong to none of its files. Make the zip again.');
}

export function twoNames(name: string): ArchiveProblem {
  return new ArchiveProblem(`${quote(name)} has two different names in it. Make the zip again.`);
}

export function unmarkedName(name: string): ArchiveProblem {
  return new ArchiveProblem(
    `the name ${quote(name)} is not marked as UTF-8. Make the zip with a program that marks it, or name the file in ASCII.`,
  );
}

export function fileAndFolder(name: string): ArchiveProblem {
  return new ArchiveProblem(`${quote(name)} is both a file and a folder. Rename one.`);
}

export function rarelyPacked(name: string): ArchiveProblem {
  return new ArchiveProblem(`${quote(name)} is packed in a rare way. Use the ordinary "deflate" method.`);
}

export function zip64(): ArchiveProblem {
  return new ArchiveProblem('it uses the zip64 format, which it is too small to need. Make it a plain zip.');
}
