import type * as z from 'zod/mini';
import * as concerns from '../../lib/concerns.ts';
import { issueSentence } from '../../lib/validation-issues.ts';
import type { Framework } from './framework.ts';
import { environmentProblem, problemsOf, type Values } from './parameter-problems.ts';

/** Rejects a stage that could not work or would not be safe, before anything is made: all problems at once. */
export default class StageParameters {
  readonly hooks: Record<string, () => void>;

  constructor(framework: Framework) {
    this.hooks = {
      initialize: () => {
        const command = framework.processedInput.commands.join(' ');
        const isDeployed = ['package', 'deploy', 'deploy function'].includes(command);
        const problems = isDeployed ? stageProblems(framework) : [];
        if (problems.length === 0) return;
        throw new framework.classes.Error(`This stage cannot be deployed:\n  ${problems.join('\n  ')}`);
      },
    };
  }
}

function stageProblems(framework: Framework): string[] {
  const aws = framework.getProvider('aws');
  if (aws.getStage() === 'local')
    return ['"local" is the stage of npm start; name another one, such as --stage prod.'];
  return [...problemsOf(valuesOf(framework), aws.getRegion()), ...environmentProblems(framework)];
}

/** The command line wins over the stage's own block, and that over the defaults, as in the framework. */
export function valuesOf({ processedInput, service }: Framework): Values {
  const given = (processedInput.options.param ?? []).map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return [name, value.join('=')];
  });
  const { defaults, stage } = service.custom.parameters;
  const values = { ...defaults, ...stage, ...Object.fromEntries(given) };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value ?? '')]));
}

/** What a function would reject when it starts is rejected before it is deployed. */
function environmentProblems({ service }: Framework): string[] {
  const shapes: Record<string, z.ZodMiniType> = Object.assign(
    {},
    ...Object.values(concerns).map((concern) => concern().shape),
  );
  const environments = service.getAllFunctions().map((name) => {
    const { environment } = service.getFunction(name);
    return [name, { ...service.provider.environment, ...environment }] as const;
  });
  const variables = Object.entries(Object.assign({}, ...environments.map(([, environment]) => environment)));
  const invalid = variables.flatMap(([name, value]) => {
    if (typeof value !== 'string' || value === '') return [];
    const issues = shapes[name]?.safeParse(value).error?.issues ?? [];
    return issues.map((issue) => `${name}: ${issueSentence(issue, value)}.`);
  });
  return [
    ...invalid,
    ...environments.flatMap(([name, environment]) => environmentProblem(name, environment)),
  ];
}
