import { combinationProblems } from './parameter-combinations.ts';
import { type Parameter, parameters } from './parameters.ts';

/** The parameters of a stage by name. Empty text and undefined are the same. */
export type Values = Record<string, string | undefined>;

/** Everything that is wrong with a stage's parameters, in sentences: one for each parameter, under its name. */
export function problemsOf(values: Values, region: string): string[] {
  const known = Object.keys(parameters);
  const single = Object.entries(parameters).flatMap(([name, parameter]) =>
    problemsOfOne(name, parameter, values[name]),
  );
  const unknown = Object.keys(values).filter((name) => !known.includes(name));
  return [
    ...unknown.map((name) => `${name} is not a parameter.`),
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

function problemsOfOne(name: string, { isOptional, problemsOf }: Parameter, value = ''): string[] {
  // The framework itself insists on a valid name of a bucket, so "unnamed" stands for a missing one.
  if (value === '' || value === 'unnamed') return isOptional ? [] : [`${name} is missing: --param=${name}=…`];
  return problemsOf(value).map((problem) => `${name}: ${problem}.`);
}
