/** How the command ends, for a CI to act on. */
export const exitCodes = {
  published: 0,
  usage: 2,
  refused: 3,
  archiveRefused: 4,
  tryAgain: 5,
} as const;

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exitCode: number;

  constructor(kind: Exclude<keyof typeof exitCodes, 'published'>, sentence: string, options?: ErrorOptions) {
    super(sentence, options);
    this.exitCode = exitCodes[kind];
  }
}
