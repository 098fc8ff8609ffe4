import { configure } from '../../lib/config.ts';

/** Sets variables of the functions for the rest of a test file; they count at once, whatever was read before. */
export function setVariables(changes: Record<string, string>): void {
  Object.assign(process.env, changes);
  configure(Object.create(process.env));
}
