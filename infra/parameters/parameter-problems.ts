import { combinationProblems } from './parameter-combinations.ts';
import { type Parameter, parameters, type Problem, type Values } from './parameters.ts';

/** Everything that is wrong with a stage's parameters. */
export function problemsOf(values: Values, region: string): Problem[] {
  const known = Object.keys(parameters);
  const unknown = Object.keys(values).filter((name) => !known.includes(name));
  return firstOfEach(
    unknown.map((name) => [name, `${name} is not a parameter.`]),
    Object.entries(parameters).flatMap(([name, parameter]) => problemsOfOne(name, parameter, values[name])),
    combinationProblems(values, region),
  );
}

/** What breaks one rule often breaks others too: of each parameter only what the first check says. */
export function firstOfEach(...checks: Problem[][]): Problem[] {
  return checks.flatMap((problems, index) => {
    const known = new Set(checks.slice(0, index).flatMap((earlier) => earlier.map(([name]) => name)));
    return problems.filter(([name]) => !known.has(name));
  });
}

function problemsOfOne(name: string, { isOptional, problemsOf }: Parameter, value = ''): Problem[] {
  // The framework itself insists on a valid name of a bucket, so "unnamed" stands for a missing one.
  if (value === '' || value === 'unnamed')
    return isOptional ? [] : [[name, `${name} is missing: --param=${name}=…`]];
  return problemsOf(value).map((problem) => [name, `${name}: ${problem}.`]);
}
