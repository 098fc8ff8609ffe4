import { afterEach, beforeEach } from '@jest/globals';
import { configure } from '../../lib/config.ts';

type Variables = Record<string, string | undefined>;

/** The variables that the running test has set, as they were before it. */
let before: Variables | undefined;

/** Sets variables of the functions, for the rest of the test or, outside of tests, of the file. They count at once. */
export function setVariables(changes: Variables): void {
  for (const [name, value] of Object.entries(changes)) {
    if (before && !(name in before)) before[name] = process.env[name];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  configure(Object.create(process.env));
}

beforeEach(() => {
  before = {};
});

afterEach(() => {
  const changed = before ?? {};
  before = undefined;
  if (Object.keys(changed).length > 0) setVariables(changed);
});
