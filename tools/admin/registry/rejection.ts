/** A command of an administrator that cannot be done, with a sentence that says why. */
export class Rejection extends Error {
  override readonly name = 'Rejection';
}
