import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { requiredParameters } from '../../infra/plugins/packages.ts';
import { parameterProblems } from '../../infra/parameters/parameter-problems.ts';
import { loadPaidContracts } from '../../infra/operations.ts';
import type { Values } from '../../infra/parameters/parameters.ts';

const paid = await loadPaidContracts();

export const region = 'us-east-1';
export const account = '123456789012';

const configuration = parse(readFileSync('serverless.yml', 'utf8'), { logLevel: 'silent', merge: true });

/** The defaults as serverless.yml has them. */
export const defaults: Record<string, unknown> = configuration.params.default;

/** A stage that can be deployed: what has no default is given, and the framework's own names are filled in. */
export const valid: Values = Object.fromEntries(
  Object.entries({ ...defaults, ...requiredParameters }).map(([name, value]) => [
    name,
    String(value)
      .replaceAll(/\$\{self:service\}/g, 'node-registry')
      .replaceAll(/\$\{self:provider\.stage\}/g, 'prod'),
  ]),
);

export function sentencesOn(values: Values, place: string): string[] {
  return parameterProblems(values, place, paid).map(([, sentence]) => sentence);
}
