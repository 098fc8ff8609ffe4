import { beforeEach } from '@jest/globals';

/**
 * The lines that the functions have logged in this test. Jest gives each test file a process object of
 * its own, so this keeps the run's output readable and touches nothing else.
 */
export const loggedLines: string[] = [];

const write = (line: string) => loggedLines.push(line) > 0;
Object.defineProperty(process, 'stdout', { value: { write }, configurable: true });

beforeEach(() => {
  loggedLines.length = 0;
});

/** What they say, of one event or of all. */
export function lines(event?: string) {
  return loggedLines
    .map((line) => JSON.parse(line))
    .filter((line) => event === undefined || line.event === event);
}
