// npm run rehearse -- [--stage NAME] [--region REGION] [--param NAME=VALUE]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFunctions } from '../bundle/build.ts';
import { createCommand, type Output, runCommand } from 'command-line/command';
import { acceptedWarnings, checkTemplate } from './check-template.ts';
import { packageWith, templateIn } from './packages.ts';

/*
 * A first deployment as far as it can be tried without an account: the operator's stage is packaged, and what would be
 * deployed is checked. What only AWS can show is a checklist in docs/deploy.md.
 */

interface Options {
  stage: string;
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
    summary: 'Packages a stage and checks what would be deployed, without an account',
    notes: 'It takes the options of npm run deploy.',
    examples: ['--stage prod --region eu-west-1 --param=tokenIssuer=https://issuer.example.com/'],
  };
  const command = createCommand(about, output)
    .option('--stage <NAME>', 'The stage', 'prod')
    .option('--region <REGION>', 'Its region')
    .option(
      '--param <NAME=VALUE>',
      'A parameter, in addition to those in serverless.yml',
      (pair: string, pairs: string[]) => [...pairs, pair],
      [],
    )
    .action(async (options: Options) => {
      const print = (line: string) => output.stdout.write(`${line}\n`);
      if (!(await checkStage(options, project, print))) status = 1;
    });
  return (await runCommand(command, args)) || status;
}

type Print = (line: string) => void;

async function checkStage(
  { stage, region, param }: Options,
  project: string,
  print: Print,
): Promise<boolean> {
  await buildFunctions();
  print('Checked: the parameters, every resource against its schema and cfn-lint’s rules, all conditions,');
  print('references, circles, and the limits of CloudFormation, Lambda and IAM.\n');
  const folder = await mkdtemp(join(tmpdir(), 'node-registry-rehearsal-'));
  const place = region === undefined ? [] : ['--region', region];
  const flags = ['--stage', stage, ...place, ...param.map((pair) => `--param=${pair}`)];
  const isFine = await isValid(stage, packageWith(project, folder, flags), folder, print).finally(() =>
    rm(folder, { recursive: true, force: true }),
  );
  print('\nAccepted warnings:');
  for (const [rule, reason] of Object.entries(acceptedWarnings)) print(`  ${rule}  ${reason}`);
  print('\nOnly AWS can show the rest: docs/deploy.md, "Verify the stage".');
  return isFine;
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
