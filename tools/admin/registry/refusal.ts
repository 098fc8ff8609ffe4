/** Something an administrator asked for that cannot be done, told to them in one sentence. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}
