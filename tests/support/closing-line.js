/** Prints the one line that the gate reads. */
export default class ClosingLine {
  onRunComplete(_, { numPassedTests, numFailedTests, numFailedTestSuites, numRuntimeErrorTestSuites }) {
    const broken = numFailedTests > 0 ? numFailedTests : numFailedTestSuites + numRuntimeErrorTestSuites;
    process.stdout.write(`tests: ${numPassedTests} passed, ${broken} failed\n`);
  }
}
