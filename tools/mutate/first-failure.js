import StrykerEnvironment from '@stryker-mutator/jest-runner/jest-env/node';

/** A mutant is dead at the first test that fails, so the rest of the file is skipped. */
export default class FirstFailure extends StrykerEnvironment {
  #hasFailed = false;

  async handleTestEvent({ name, test }) {
    if (name === 'test_fn_failure') this.#hasFailed = true;
    if (name === 'test_start' && this.#hasFailed) test.mode = 'skip';
  }
}
