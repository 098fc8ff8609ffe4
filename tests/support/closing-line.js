/** Prints what the gate reads. A suite that could not run, or whose worker died, counts as a failed test. */
export default class ClosingLine {
  #config;

  constructor(config) {
    this.#config = config;
  }

  async onRunComplete(_, results) {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numTotalTestSuites, testResults } =
      results;
    const unreported = numTotalTestSuites - testResults.length;
    const unused = isWhole(this.#config) && results.numFailedTests === 0 ? await unusedGrants() : [];
    const failed = numFailedTests + numRuntimeErrorTestSuites + unreported;
    print(...skippedIn(testResults), ...unused.map((grant) => `granted in vain: ${grant}`));
    print(
      `order: npm test -- --seed=${this.#config.seed}`,
      `tests: ${numPassedTests} passed, ${failed} failed`,
    );
  }
}

function print(...lines) {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

/** What is not run, and how to have it run. */
function skippedIn(testResults) {
  const skipped = testResults.flatMap((suite) =>
    suite.testResults.filter(({ status }) => status === 'pending'),
  );
  if (skipped.length === 0) return [];
  const needBrowser = skipped.filter(({ fullName }) => fullName.includes('no Chromium')).length;
  const command = 'apt-get install -y --no-install-recommends chromium';
  return [
    `skipped: ${skipped.length} tests`,
    ...(needBrowser > 0 ? [`${needBrowser} of them need Chromium: ${command}`] : []),
  ];
}

function isWhole({ testPathPatterns, testNamePattern, findRelatedTests, globalSetup }) {
  return globalSetup && !findRelatedTests && !testNamePattern && testPathPatterns.patterns.length === 0;
}

/** Only the whole run makes every call. */
async function unusedGrants() {
  const rights = await import('./rights.ts');
  return rights.unusedGrants();
}
