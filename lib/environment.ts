import type * as z from 'zod/mini';
import { issueSentence } from './validation-issues.ts';

type Concern = () => z.ZodMiniObject;

type Values<C extends Concern> = z.output<ReturnType<C>>;

/** Reads one concern's variables; a missing or malformed one stops the function at start, by name. */
export function readEnvironment<C extends Concern>(concern: C): Values<C> {
  const schema = concern();
  const values = Object.keys(schema.shape).map((name) => [name, process.env[name]]);
  const set = Object.fromEntries(values.filter(([, value]) => value !== undefined && value !== ''));
  // Each is read once, so a parser compiled for it would cost more than it saves.
  const { data, error } = schema.safeParse(set, { jitless: true });
  if (data !== undefined) return data as Values<C>;
  const issues = error.issues.map((issue) => `${issue.path.join('.')}: ${issueSentence(issue, set)}`);
  throw new Error(`The environment is not valid. ${issues.join('; ')}`);
}
