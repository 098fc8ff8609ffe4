import type * as z from 'zod/mini';
import { issueSentence } from '../../lib/validation-issues.ts';
import { combinationProblems } from './parameter-combinations.ts';
import { parameters } from './parameters.ts';

/** The parameters of a stage by name. Empty text and undefined are the same. */
export type Values = Record<string, string | undefined>;

/** Everything that is wrong with a stage's parameters, in sentences: one for each parameter, under its name. */
export function problemsOf(values: Values, region: string): string[] {
  const known = Object.keys(parameters);
  const single = Object.entries(parameters).flatMap(([name, schema]) =>
    problemsOfOne(name, schema, values[name]),
  );
  const unknown = Object.keys(values).filter((name) => !known.includes(name));
  return [
    ...unknown.map((name) => `There is no parameter ${name}.`),
    ...single,
    ...combinationProblems(values, region).filter(
      (sentence) => !single.some((problem) => subjectOf(problem) === subjectOf(sentence)),
    ),
  ];
}

/** The parameter that a sentence begins with. */
export function subjectOf(sentence: string): string | undefined {
  return /^\w+/.exec(sentence)?.[0];
}

function problemsOfOne(name: string, schema: z.ZodMiniType, value = ''): string[] {
  const { error } = schema.safeParse(value);
  if (!error) return [];
  // "unnamed" stands for a missing name, because the framework itself insists on a valid one.
  if (value === '' || value === 'unnamed') return [`${name} is missing: --param=${name}=…`];
  return error.issues.map((issue) => `${name}: ${issueSentence(issue, value)}.`);
}
