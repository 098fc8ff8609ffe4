/** The used part of Stryker: a mutation run installs it, and types are checked without it. */
declare module '@stryker-mutator/core' {
  export class Stryker {
    constructor(options: object);
    runMutationTest(): Promise<{ status: string }[]>;
  }
}
