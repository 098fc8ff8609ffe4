import { readFile } from 'node:fs/promises';
import { deployedTemplate, stackOf } from '../plugins/deployed-template.ts';
import type { Framework } from '../plugins/framework.ts';
import { loadPaidContracts } from '../operations.ts';
import { givenValues, malformedParameters, readableArguments, removeEmpty } from './given-parameters.ts';
import { parameterProblems } from './parameter-problems.ts';
import { parameters, templateDefaults, type Values } from './parameters.ts';
import { parametersInFile, rememberedIn } from './remembered-parameters.ts';

export const packagingCommands = ['package', 'deploy', 'deploy function'];

/**
 * Rejects a stage that could not work or would not be safe, before anything is created: all problems at once,
 * under the names that the operator entered.
 */
export function checkParameters(framework: Framework): void {
  const { service } = framework;
  reject(framework, malformedParameters(framework.processedInput.options.param ?? []));
  process.argv = readableArguments(process.argv);
  const { params } = framework.configurationInput;
  params.default = { ...templateDefaults, ...params.default };
  removeEmpty(params);
  const validate = service.validate.bind(service);
  // The framework's own validation would hide every other problem behind places in its configuration.
  service.validate = async () => {
    const isPackaged = packagingCommands.includes(framework.processedInput.commands.join(' '));
    if (isPackaged) reject(framework, await stageProblems(framework));
    await validate();
  };
}

/** The framework reads the command line once more after this. Later parameters override earlier ones. */
export async function addParameters(framework: Framework): Promise<void> {
  const { parameters: path, same, param } = framework.processedInput.options;
  const remembered = same ? await rememberedParameters(framework) : {};
  // An empty one drops the parameter.
  for (const pair of param ?? []) delete remembered[String(pair).replace(/=.*/s, '')];
  const taken = Object.entries(remembered).map(([name, value]) => `${name}=${value}`);
  const lines = path === undefined ? [] : parametersInFile(await readFile(path, 'utf8'));
  reject(framework, malformedParameters(lines));
  if (taken.length + lines.length === 0) return;
  const added = [...taken, ...lines].map((pair) => `--param=${pair}`);
  const firstOption = process.argv.findIndex((arg) => arg.startsWith('-'));
  process.argv = readableArguments(process.argv.toSpliced(firstOption, 0, ...added));
}

/** Those of the last deployment that this release knows. */
async function rememberedParameters(framework: Framework): Promise<Record<string, string>> {
  const remembered = rememberedIn(await deployedTemplate(framework));
  if (typeof remembered === 'string')
    throw new framework.classes.Error(
      `--same has nothing to take: the stack ${stackOf(framework)} ${remembered === 'none' ? 'is not deployed' : 'doesn’t name its parameters'}.`,
    );
  return Object.fromEntries(
    Object.entries(remembered).filter((entry): entry is [string, string] => entry[0] in parameters),
  );
}

function reject({ classes }: Framework, problems: string[]): void {
  if (problems.length > 0)
    throw new classes.Error(`This stage cannot be deployed:\n  ${problems.join('\n  ')}`);
}

async function stageProblems(framework: Framework): Promise<string[]> {
  const aws = framework.getProvider('aws');
  if (aws.getStage() === 'local')
    return ['"local" is the stage of npm start; name another one, such as --stage prod.'];
  const problems = parameterProblems(valuesOf(framework), aws.getRegion(), await loadPaidContracts());
  return problems.map(([, sentence]) => sentence);
}

/** As in the framework, the command line overrides the stage's own block, and that overrides the defaults. */
export function valuesOf(framework: Framework): Values {
  return { ...defaultsOf(framework), ...givenTo(framework) };
}

/** Without the defaults of this release. */
export function givenTo(framework: Framework): Values {
  const { [framework.getProvider('aws').getStage()]: stage } = framework.configurationInput.params;
  return {
    ...asText(stage),
    ...Object.fromEntries(givenValues(framework.processedInput.options.param ?? [])),
  };
}

export function defaultsOf({ configurationInput }: Framework): Values {
  return asText(configurationInput.params.default);
}

function asText(values: Record<string, unknown> | null = {}): Values {
  const given = Object.entries(values ?? {}).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
