import { readFile } from 'node:fs/promises';
import { deployedTemplate, rememberedIn, stackOf } from '../plugins/deployed-template.ts';
import type { Framework } from '../plugins/framework.ts';
import { loadPaidContracts } from '../operations.ts';
import { parameterProblems } from './parameter-problems.ts';
import { parameters, templateDefaults, type Values } from './parameters.ts';

export const packagingCommands = ['package', 'deploy', 'deploy function'];

/**
 * Rejects a stage that could not work or would not be safe, before anything is created: all problems at once,
 * under the names that the operator entered.
 */
export function checkParameters(framework: Framework): void {
  const { service } = framework;
  const validate = service.validate.bind(service);
  // The framework's own validation would hide every other problem behind places in its configuration.
  service.validate = async () => {
    const isPackaged = packagingCommands.includes(framework.processedInput.commands.join(' '));
    if (isPackaged) reject(framework, await stageProblems(framework));
    await validate();
  };
}

/**
 * Moves all parameters to the stage's block of serverless.yml before the framework resolves them: those of the last
 * deployment, then of a file, then of the command line. Later ones override earlier ones. The framework itself truncates
 * a value after its first line. An empty one counts as missing: the default applies.
 */
export async function takeParameters(framework: Framework): Promise<void> {
  const { options } = framework.processedInput;
  const { params } = framework.configurationInput;
  const lines = options.parameters === undefined ? [] : await linesOf(framework, options.parameters);
  const pairs = process.argv
    .flatMap((arg, place, all) =>
      all[place - 1] === '--param' ? arg : (/^--param=(.*)/s.exec(arg)?.[1] ?? []),
    )
    .map((pair) => pair.replaceAll(/\s*[\r\n]+\s*/g, ' '));
  const read = [
    ...lines.map((line) => [line, `${options.parameters}: "${line}"`] as const),
    ...pairs.map((pair) => [pair, `--param=${pair}`] as const),
  ];
  const malformed = read.filter(([pair]) => !/^[^=]+=/.test(pair));
  reject(
    framework,
    malformed.map(([, shown]) => `${shown} must be <name>=<value>; the value may be empty.`),
  );
  const remembered = options.same ? await rememberedParameters(framework) : {};
  const given = entriesOf(pairs);
  for (const [name, value] of given) if (value === '') delete remembered[name];
  const { stage = localStage } = options;
  const taken = [
    ...Object.entries(remembered),
    ...[...entriesOf(lines), ...given].filter(([, value]) => value),
  ];
  const block = { ...params[stage], ...Object.fromEntries(taken) };
  // An empty one of the local stage stays empty.
  const kept = Object.entries(block).filter(([, value]) => value !== '' || stage === localStage);
  params[stage] = Object.fromEntries(kept);
  params.default = { ...templateDefaults, ...params.default };
  // The framework reads the command line once more after this.
  process.argv = process.argv.filter(
    (arg, index, all) => !/^--param(?:=|$)/.test(arg) && all[index - 1] !== '--param',
  );
}

const localStage = 'local';

/** A parameter on each line, as name=value. */
async function linesOf(framework: Framework, path: string): Promise<string[]> {
  const file = await readFile(path, 'utf8').catch((error: Error) => error);
  if (file instanceof Error) {
    reject(framework, [`The file of --parameters can't be read: ${file.message}.`]);
    return [];
  }
  return file.split(/\r?\n/).filter((line) => /\S/.test(line) && !/^\s*#/.test(line));
}

function entriesOf(pairs: readonly string[]): [name: string, value: string][] {
  return pairs.map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return [name, value.join('=').trimEnd()];
  });
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
  const stage = aws.getStage();
  if (stage === localStage)
    return ['"local" is the stage of npm start; name another one, such as --stage prod.'];
  const names = framework.service
    .getAllFunctions()
    .map((name) => `${framework.service.service}-${stage}-${name}`);
  const room = stage.length + 64 - Math.max(...names.map(({ length }) => length));
  if (stage.length > room)
    return [
      `--stage ${stage} is too long: with more than ${room} characters, Lambda rejects names of functions.`,
    ];
  return parameterProblems(valuesOf(framework), aws.getRegion(), await loadPaidContracts());
}

/** The stage's parameters. */
export function valuesOf(framework: Framework): Values {
  return { ...defaultsOf(framework), ...givenTo(framework) };
}

/** Without the defaults of this release. */
export function givenTo(framework: Framework): Values {
  const { [framework.getProvider('aws').getStage()]: stage } = framework.configurationInput.params;
  return asText(stage);
}

export function defaultsOf({ configurationInput }: Framework): Values {
  return asText(configurationInput.params.default);
}

function asText(values: Record<string, unknown> | null = {}): Values {
  const given = Object.entries(values ?? {}).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
