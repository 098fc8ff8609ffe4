import { variables as known } from './variables.ts';
import { issueSentence } from '../../lib/validation-issues.ts';
import type { Framework } from '../plugins/framework.ts';

/** The variables of each function. */
export type Environments = [functionName: string, variables: Record<string, unknown>][];

type Configuration = Framework['configurationInput'];

/** Which parameter a variable has its value from, as serverless.yml says before the framework resolves it. */
export function parametersOfVariables({ provider, functions }: Configuration): Map<string, string> {
  const environments = [provider, ...Object.values(functions)].map(({ environment }) => environment ?? {});
  return new Map(
    environments.flatMap(Object.entries).flatMap(([variable, value]) => {
      const [, parameter] = /^\$\{param:(\w+)/.exec(String(value)) ?? [];
      return parameter === undefined ? [] : [[variable, parameter] as const];
    }),
  );
}

export function environmentsOf({ service }: Framework): Environments {
  return service
    .getAllFunctions()
    .map((name) => [name, { ...service.provider.environment, ...service.getFunction(name).environment }]);
}

/** What a function would reject when it starts, or Lambda before, is rejected before it is deployed. */
export function environmentProblems(
  environments: Environments,
  parameterOf: ReadonlyMap<string, string>,
): string[] {
  return [...invalidValues(environments, parameterOf), ...tooManyBytes(environments, parameterOf)];
}

function invalidValues(environments: Environments, parameterOf: ReadonlyMap<string, string>): string[] {
  const variables: Record<string, unknown> = Object.assign({}, ...environments.map(([, values]) => values));
  return Object.entries(variables).flatMap(([name, value]) => {
    if (typeof value !== 'string' || value === '') return [];
    const issues = known[name]?.schema.safeParse(value).error?.issues ?? [];
    return issues.map((issue) => `${parameterOf.get(name) ?? name}: ${issueSentence(issue, value)}.`);
  });
}

/** Lambda rejects a function whose variables, names included, take more. */
const maxBytes = 4096;
/** Variables that take less are not what makes an environment too large, if there is one that takes more. */
const minLargeBytes = 400;

function tooManyBytes(environments: Environments, parameterOf: ReadonlyMap<string, string>): string[] {
  const sizes = environments
    .map(([name, values]) => ({ name, variables: Object.entries(values).map(sizeOf) }))
    .map(({ name, variables }) => ({
      name,
      bytes: variables.reduce((sum, { bytes }) => sum + bytes, 0),
      large: variables
        .sort((one, other) => other.bytes - one.bytes)
        .filter(({ bytes }, index) => index === 0 || bytes >= minLargeBytes)
        .map(({ variable, bytes }) => `${parameterOf.get(variable) ?? variable} (${bytes})`),
    }))
    .filter(({ bytes }) => bytes > maxBytes);
  const causes = new Set(sizes.map(({ large }) => large.join(' or ')));
  return [...causes].map((cause) => {
    const functions = sizes.filter(({ large }) => large.join(' or ') === cause);
    const names = functions.map(({ name }) => name).join(', ');
    const bytes = Math.max(...functions.map((it) => it.bytes));
    return `The variables of ${names} take ${bytes} bytes, and Lambda allows ${maxBytes}: shorten ${cause}.`;
  });
}

/** Text that only AWS knows counts as 100. */
function sizeOf([variable, value]: [string, unknown]): { variable: string; bytes: number } {
  const size = typeof value === 'object' && value !== null ? 100 : Buffer.byteLength(String(value ?? ''));
  return { variable, bytes: Buffer.byteLength(variable) + size };
}
