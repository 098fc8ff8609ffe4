/**
 * The lines that the functions of this test file have logged. Jest gives each test file a process object of
 * its own, so this keeps the run's output readable and touches nothing else.
 */
export const loggedLines: string[] = [];

const write = (line: string) => loggedLines.push(line) > 0;
Object.defineProperty(process, 'stdout', { value: { write }, configurable: true });
