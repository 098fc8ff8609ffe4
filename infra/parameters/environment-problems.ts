import { parameterOf } from '../../lib/config.ts';
import type { Framework } from '../plugins/framework.ts';
import { type Problem, variables } from './parameters.ts';

export type Environments = [functionName: string, variables: Record<string, unknown>][];

export function environmentsOf({ service }: Framework): Environments {
  return service
    .getAllFunctions()
    .map((name) => [name, { ...service.provider.environment, ...service.getFunction(name).environment }]);
}

/** Lambda rejects a function whose variables, including names, exceed this. */
const maxBytes = 4096;

/** One sentence for all functions in which the same parameter takes the most. */
export function environmentProblems(environments: Environments): Problem[] {
  const tooLarge = environments
    .map(([name, values]) => ({ name, sizes: Object.entries(values).map(sizeOf) }))
    .map(({ name, sizes }) => ({
      name,
      bytes: sizes.reduce((sum, [, bytes]) => sum + bytes, 0),
      cause: sizes.sort(([, one], [, other]) => other - one)[0]?.[0] ?? '',
    }))
    .filter(({ bytes }) => bytes > maxBytes);
  return Object.entries(Object.groupBy(tooLarge, ({ cause }) => cause)).map(([cause, functions = []]) => {
    const names = functions.map(({ name }) => name).join(', ');
    const bytes = Math.max(...functions.map((it) => it.bytes));
    return [
      cause,
      `The variables of ${names} take ${bytes} bytes, and Lambda allows ${maxBytes}: shorten ${cause}.`,
    ];
  });
}

/** A parameter and its size. A value that only AWS knows counts as 100. */
function sizeOf([name, value]: [string, unknown]): [parameter: string, bytes: number] {
  const size = typeof value === 'object' && value !== null ? 100 : Buffer.byteLength(String(value ?? ''));
  const parameter = variables[name] && parameterOf(name, variables[name]);
  return [parameter ?? name, Buffer.byteLength(name) + size];
}
