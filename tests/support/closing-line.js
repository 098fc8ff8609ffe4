/** Prints the line that the gate reads. A suite that could not run, or whose worker died, counts as a failed test. */
export default class ClosingLine {
  onRunComplete(_, results) {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numTotalTestSuites, testResults } =
      results;
    const unreported = numTotalTestSuites - testResults.length;
    const failed = numFailedTests + numRuntimeErrorTestSuites + unreported;
    process.stdout.write(`tests: ${numPassedTests} passed, ${failed} failed\n`);
  }
}
