/** A secret that was read and cannot be a key; the sentence names it and never shows it. */
export class WrongSecret extends Error {
  override readonly name = 'WrongSecret';
}
