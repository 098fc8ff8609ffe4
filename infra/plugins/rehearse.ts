// npm run rehearse -- [--stage NAME] [--region REGION] [--param NAME=VALUE]
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFunctions } from '../bundle/build.ts';
import { createCommand, runCommand } from '../../packages/command-line/command.ts';
import { acceptedWarnings, checkTemplate } from './check-template.ts';
import { flagsOf, packageWith, templateIn } from './packages.ts';
import { parameterSets } from '../parameters/parameter-sets.ts';

/*
 * A first deployment as far as it can be tried without an account: every kind of stage is packaged, or one of the
 * operator's own, and what would be deployed is checked. What only AWS can show is a checklist in docs/deploy.md, which
 * is printed at the end.
 */

interface Options {
  stage?: string;
  region?: string;
  param: string[];
}

const command = createCommand({
  name: 'npm run rehearse --',
  summary: 'Packages stages and checks what would be deployed, without an account',
  notes:
    'Without options it does so for five kinds of stage with parameters of its own. With them, it does so for your stage: give the same options as to npm run deploy.',
  examples: ['--stage prod --region eu-west-1 --param=tokenIssuer=https://issuer.example.com/'],
})
  .option('--stage <NAME>', 'Check this stage, prod unless it is given')
  .option('--region <REGION>', 'The region of that stage')
  .option(
    '--param <NAME=VALUE>',
    'A parameter of that stage, in addition to those in serverless.yml',
    (pair: string, pairs: string[]) => [...pairs, pair],
    [],
  )
  .action(rehearse);

const print = (line: string) => process.stdout.write(`${line}\n`);

async function rehearse(options: Options): Promise<void> {
  const stages = stagesOf(options);
  await buildFunctions();
  print('Checked: the parameters, every resource against its schema and cfn-lint’s rules, all conditions,');
  print('references, circles, and the limits of CloudFormation, Lambda and IAM.\n');
  const folder = await mkdtemp(join(tmpdir(), 'node-registry-rehearsal-'));
  try {
    for (const [name, flags] of stages)
      if (!(await isValid(name, flags, join(folder, name)))) process.exitCode = 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  print('\nAccepted warnings:');
  for (const [rule, reason] of Object.entries(acceptedWarnings)) print(`  ${rule}  ${reason}`);
  print('\nOnly AWS can show (docs/deploy.md, "Verify the stage", has the command for each):');
  for (const item of await openQuestions()) print(`  - ${item}`);
}

/** Each stage with what a person would write after `npm run deploy --`. */
function stagesOf({ stage, region, param }: Options): [name: string, flags: string[]][] {
  if (stage === undefined && region === undefined && param.length === 0)
    return Object.entries(parameterSets).map(([name, parameters]) => [name, flagsOf(parameters)]);
  const place = region === undefined ? [] : ['--region', region];
  return [
    [stage ?? 'prod', ['--stage', stage ?? 'prod', ...place, ...param.map((pair) => `--param=${pair}`)]],
  ];
}

async function isValid(name: string, flags: string[], folder: string): Promise<boolean> {
  try {
    await packageWith('.', folder, flags);
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

/** The bold beginnings of the list in docs/deploy.md. */
async function openQuestions(): Promise<string[]> {
  const page = await readFile('docs/deploy.md', 'utf8');
  const [, section = ''] = page.split('## Verify the stage\n');
  const list = section.split('\n## ')[0] ?? '';
  return [...list.matchAll(/^\d+\. \*\*(.+?)\*\*/gm)].map(([, item]) => String(item));
}

const status = await runCommand(command, process.argv.slice(2));
if (status !== 0) process.exitCode = status;
