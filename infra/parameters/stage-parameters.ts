import type { Framework } from '../plugins/framework.ts';
import { loadPaidContracts } from '../operations.ts';
import { environmentProblems, environmentsOf } from './environment-problems.ts';
import { givenValues, malformedParameters, readableArguments, removeEmpty } from './given-parameters.ts';
import { firstOfEach, parameterProblems } from './parameter-problems.ts';
import type { Problem, Values } from './parameters.ts';
import { placeProblems } from './place-problems.ts';

const packagingCommands = ['package', 'deploy', 'deploy function'];

/**
 * Rejects a stage that could not work or would not be safe, before anything is created: all problems at once,
 * under the names that the operator entered.
 */
export default class StageParameters {
  constructor(framework: Framework) {
    const { service } = framework;
    reject(framework, malformedParameters(framework.processedInput.options.param ?? []));
    process.argv = readableArguments(process.argv);
    removeEmpty(framework.configurationInput.params);
    const validate = service.validate.bind(service);
    // The framework's own validation would hide every other problem behind places in its configuration.
    service.validate = async () => {
      const isPackaged = packagingCommands.includes(framework.processedInput.commands.join(' '));
      if (isPackaged) reject(framework, await stageProblems(framework));
      await validate();
    };
  }
}

function reject({ classes }: Framework, problems: string[]): void {
  if (problems.length > 0)
    throw new classes.Error(`This stage cannot be deployed:\n  ${problems.join('\n  ')}`);
}

async function stageProblems(framework: Framework): Promise<string[]> {
  const aws = framework.getProvider('aws');
  if (aws.getStage() === 'local')
    return ['"local" is the stage of npm start; name another one, such as --stage prod.'];
  const values = valuesOf(framework);
  return [
    ...placeProblems(framework, values),
    ...firstOfEach(
      structuredValues(framework),
      parameterProblems(values, aws.getRegion(), await loadPaidContracts()),
      environmentProblems(environmentsOf(framework)),
    ).map(([, sentence]) => sentence),
  ];
}

/** The parts of the framework with the operator's input. */
export type Given = Pick<Framework, 'configurationInput' | 'processedInput' | 'getProvider'>;

/** As in the framework, the command line overrides the stage's own block, and that overrides the defaults. */
export function valuesOf(framework: Given): Values {
  return Object.fromEntries(
    Object.entries(unreadValues(framework)).map(([name, value]) => [name, String(value ?? '')]),
  );
}

function unreadValues(framework: Given): Record<string, unknown> {
  const { default: defaults, ...stages } = framework.configurationInput.params;
  const stage = stages[framework.getProvider('aws').getStage()];
  const ofStage = Object.entries(stage ?? {}).filter(([, value]) => value !== null);
  const given = givenValues(framework.processedInput.options.param ?? []);
  return { ...defaults, ...Object.fromEntries([...ofStage, ...given]) };
}

function structuredValues(framework: Framework): Problem[] {
  return Object.entries(unreadValues(framework))
    .filter(([, value]) => typeof value === 'object' && value !== null)
    .map(([name]) => [name, `${name}: must be text or a number.`]);
}
