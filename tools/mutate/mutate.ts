// npm run mutate [-- AREA...]
import { readFileSync } from 'node:fs';
import { Argument } from 'commander';
import startServers from '../../tests/support/start-servers.ts';
import stopServers from '../../tests/support/stop-servers.ts';
import { createCommand, runCommand } from '../command-line/command.ts';
import { table } from '../command-line/table.ts';
import { installPackages } from '../install/install-packages.ts';
import { type Area, areas, minOverall } from './areas.ts';
import { type Counts, scoreOf } from './score.ts';

const base = JSON.parse(readFileSync('tools/mutate/stryker.json', 'utf8'));

/** Stryker runs every given test file for every mutant, so each area has only its own. */
async function mutate({ files, tests }: Area): Promise<Counts> {
  const testMatch = tests.map((name) => `<rootDir>/tests/${name}.test.ts`);
  const jest = { ...base.jest, config: { ...base.jest.config, testMatch } };
  const plugins = ['@stryker-mutator/*', './tools/mutate/ignore-descriptions.js'];
  const { Stryker } = await import('@stryker-mutator/core');
  const mutants = await new Stryker({
    ...base,
    plugins,
    ignorers: ['descriptions'],
    jest,
    mutate: [...files],
  }).runMutationTest();
  const counted = mutants.filter(
    ({ status }) => !['Ignored', 'CompileError', 'RuntimeError'].includes(status),
  );
  const timedOut = counted.filter(({ status }) => status === 'Timeout').length;
  const failed = counted.filter(({ status }) => status === 'Killed').length;
  return { mutants: counted.length, killed: failed + timedOut, timedOut };
}

function show(name: string, counts: Counts, minScore: number): void {
  const { line, problem } = scoreOf(name, counts, minScore);
  process.stdout.write(`${line}\n`);
  if (problem === undefined) return;
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}

async function mutateAll(names: (keyof typeof areas)[]): Promise<void> {
  const all: Counts = { mutants: 0, killed: 0, timedOut: 0 };
  for (const name of names) {
    const counts = await mutate(areas[name]);
    show(name, counts, areas[name].minScore);
    for (const part of ['mutants', 'killed', 'timedOut'] as const) all[part] += counts[part];
  }
  if (names.length === Object.keys(areas).length) show('all', all, minOverall);
}

type AreaName = keyof typeof areas;

const scores = [
  'Areas (all by default), and the share of the changes that must be noticed:',
  table(
    ['AREA', 'PERCENT'],
    Object.entries(areas).map(([name, { minScore }]) => [name, minScore]),
    { alignRight: [1] },
  ),
  `All together ${minOverall} %. Exits with 1 below that; docs/quality.md says which changes may go unnoticed, and why.`,
];

const command = createCommand({
  name: 'npm run mutate --',
  summary: 'Tests the tests: makes one small change to lib at a time, and checks whether a test fails',
})
  .addArgument(new Argument('[areas...]').choices(Object.keys(areas)))
  .addHelpText('after', `\n${scores.join('\n\n')}`)
  .action(async (names: AreaName[]) => {
    await installPackages('tools/mutate');
    // Registered before Stryker's own handler, which ends the process at once and leaves children running.
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stopServers());
    // Once instead of for every mutant.
    await startServers();
    await mutateAll(names.length > 0 ? names : (Object.keys(areas) as AreaName[])).finally(stopServers);
  });

const status = await runCommand(command, process.argv.slice(2));
process.exitCode ||= status;
