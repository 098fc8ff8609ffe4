/** As much of Stryker as is used here: it is installed at the first mutation run, and types are checked without it. */
declare module '@stryker-mutator/core' {
  export class Stryker {
    constructor(options: object);
    runMutationTest(): Promise<{ status: string }[]>;
  }
}
