// npm run rehearse -- [--stage NAME] [--region REGION] [--param NAME=VALUE]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFunctions } from '../bundle/build.ts';
import { createCommand, type Output, runCommand } from 'command-line/command';
import { acceptedWarnings, checkTemplate } from './check-template.ts';
import { flagsOf, packageWith, templateIn } from './packages.ts';
import { parameterSets } from '../parameters/parameter-sets.ts';

/*
 * A first deployment as far as it can be tried without an account: every kind of stage is packaged, or one of the
 * operator's own, and what would be deployed is checked. What only AWS can show is a checklist in docs/deploy.md.
 */

interface Options {
  stage?: string;
  region?: string;
  param: string[];
}

/** Runs the command line on a project and returns the exit status. */
export async function rehearse(
  args: readonly string[],
  project = '.',
  output: Output = process,
): Promise<number> {
  let status = 0;
  const about = {
    name: 'npm run rehearse --',
    summary: 'Packages stages and checks what would be deployed, without an account',
    notes:
      'Without options, it checks six kinds of stage with sample parameters. To check your stage, give it the options of npm run deploy.',
    examples: ['--stage prod --region eu-west-1 --param=tokenIssuer=https://issuer.example.com/'],
  };
  const command = createCommand(about, output)
    .option('--stage <NAME>', 'Check this stage, prod unless it is given')
    .option('--region <REGION>', 'The region of that stage')
    .option(
      '--param <NAME=VALUE>',
      'A parameter of that stage, in addition to those in serverless.yml',
      (pair: string, pairs: string[]) => [...pairs, pair],
      [],
    )
    .action(async (options: Options) => {
      const print = (line: string) => output.stdout.write(`${line}\n`);
      if (!(await checkStages(stagesOf(options), project, print))) status = 1;
    });
  return (await runCommand(command, args)) || status;
}

type Print = (line: string) => void;

async function checkStages(stages: Stages, project: string, print: Print): Promise<boolean> {
  await buildFunctions();
  print('Checked: the parameters, every resource against its schema and cfn-lint’s rules, all conditions,');
  print('references, circles, and the limits of CloudFormation, Lambda and IAM.\n');
  const folder = await mkdtemp(join(tmpdir(), 'node-registry-rehearsal-'));
  let areValid = true;
  try {
    for (const [name, flags] of stages) {
      const packaging = packageWith(project, join(folder, name), flags);
      if (!(await isValid(name, packaging, join(folder, name), print))) areValid = false;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  print('\nAccepted warnings:');
  for (const [rule, reason] of Object.entries(acceptedWarnings)) print(`  ${rule}  ${reason}`);
  print('\nOnly AWS can show the rest: docs/deploy.md, "Verify the stage".');
  return areValid;
}

type Stages = [name: string, flags: string[]][];

/** Each stage with what a person would write after `npm run deploy --`. */
function stagesOf({ stage, region, param }: Options): Stages {
  if (stage === undefined && region === undefined && param.length === 0)
    return Object.entries(parameterSets).map(([name, parameters]) => [name, flagsOf(parameters)]);
  const place = region === undefined ? [] : ['--region', region];
  return [
    [stage ?? 'prod', ['--stage', stage ?? 'prod', ...place, ...param.map((pair) => `--param=${pair}`)]],
  ];
}

async function isValid(
  name: string,
  packaging: Promise<unknown>,
  folder: string,
  print: Print,
): Promise<boolean> {
  try {
    await packaging;
  } catch (error) {
    print(`${name}: not packaged\n${(error as { stdout?: string }).stdout ?? error}`);
    return false;
  }
  const { resources, errors, accepted } = checkTemplate(templateIn(folder));
  const warnings = Object.entries(accepted).map(([rule, count]) => `${count} × ${rule}`);
  print(
    `${name}: ${resources} resources, ${errors.length} errors; accepted: ${warnings.join(', ') || 'nothing'}`,
  );
  for (const error of errors) print(`  ${error}`);
  return errors.length === 0;
}

if (import.meta.main) process.exitCode = await rehearse(process.argv.slice(2));
