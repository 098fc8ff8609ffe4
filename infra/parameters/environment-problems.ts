import type { Framework } from '../plugins/framework.ts';
import { type Problem, variables } from './parameters.ts';

/** The variables of each function. */
export type Environments = [functionName: string, variables: Record<string, unknown>][];

/** The parameter that sets a variable, or the variable itself if none does. */
function settingOf(variable: string): string {
  return variables[variable]?.parameter ?? variable;
}

export function environmentsOf({ service }: Framework): Environments {
  return service
    .getAllFunctions()
    .map((name) => [name, { ...service.provider.environment, ...service.getFunction(name).environment }]);
}

/** Lambda rejects a function whose variables, names included, take more. */
const maxBytes = 4096;
/** Variables that take less are not what makes an environment too large, if there is one that takes more. */
const minLargeBytes = 400;

export function environmentProblems(environments: Environments): Problem[] {
  const sizes = environments
    .map(([name, values]) => ({ name, sizes: Object.entries(values).map(sizeOf) }))
    .map(({ name, sizes }) => ({
      name,
      bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0),
      large: sizes
        .sort((one, other) => other.bytes - one.bytes)
        .filter(({ bytes }, index) => index === 0 || bytes >= minLargeBytes)
        .map(({ variable, bytes }) => `${settingOf(variable)} (${bytes})`),
    }))
    .filter(({ bytes }) => bytes > maxBytes);
  const causes = new Set(sizes.map(({ large }) => large.join(' or ')));
  return [...causes].map((cause) => {
    const functions = sizes.filter(({ large }) => large.join(' or ') === cause);
    const names = functions.map(({ name }) => name).join(', ');
    const bytes = Math.max(...functions.map((it) => it.bytes));
    const sentence = `The variables of ${names} take ${bytes} bytes, and Lambda allows ${maxBytes}: shorten ${cause}.`;
    return [cause, sentence];
  });
}

/** Text that only AWS knows counts as 100. */
function sizeOf([variable, value]: [string, unknown]): { variable: string; bytes: number } {
  const size = typeof value === 'object' && value !== null ? 100 : Buffer.byteLength(String(value ?? ''));
  return { variable, bytes: Buffer.byteLength(variable) + size };
}
