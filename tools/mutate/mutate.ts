// npm run mutate [-- AREA...]
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import startServers from '../../tests/support/start-servers.ts';
import stopServers from '../../tests/support/stop-servers.ts';
import { installPackages } from '../install/install-packages.ts';
import { type Area, areas, isAreaName, leastOverall } from './areas.ts';

const usage = `Tests the tests: changes lib in one small place at a time, and looks whether a test fails.

Usage: npm run mutate [-- AREA...]

Areas, all of them unless you say, and the share of changes that must be noticed
${Object.entries(areas)
  .map(([name, { least }]) => `  ${name.padEnd(13)}  ${least} %`)
  .join('\n')}

All together ${leastOverall} %. Exits with 1 below that. What no test noticed is shown; docs/security.md says why it may stay.
`;

interface Tally {
  mutants: number;
  killed: number;
  /** Of the killed: those that ran on and on. On a busy machine that may be said of a mutant that no test noticed. */
  timedOut: number;
}

function readNames(): (keyof typeof areas)[] | undefined {
  try {
    const { values, positionals } = parseArgs({
      options: { help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    if (values.help) return void process.stdout.write(usage);
    const unknown = positionals.filter((name) => !isAreaName(name));
    if (unknown.length > 0) return refuse(`There is no area "${unknown.join(', ')}".`);
    return (positionals.length > 0 ? positionals : Object.keys(areas)).filter(isAreaName);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refuse(`${error.message.split(/\n|\. /)[0]}.`);
  }
}

function refuse(sentence: string): undefined {
  process.stderr.write(`${sentence} See npm run mutate -- --help\n`);
  process.exitCode = 2;
}

const base = JSON.parse(readFileSync('tools/mutate/stryker.json', 'utf8'));

/** Stryker runs every test file that it is given for every mutant, so that each area has only its own. */
async function mutate({ files, tests }: Area): Promise<Tally> {
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

function show(name: string, { mutants, killed, timedOut }: Tally, least: number): void {
  const score = (100 * killed) / mutants;
  process.stdout.write(
    `${name}: ${killed} of ${mutants} mutants killed, ${score.toFixed(1)} % (${timedOut} by running out of time)\n`,
  );
  if (score < least) {
    process.stderr.write(`${name}: at least ${least} % must be killed.\n`);
    process.exitCode = 1;
  }
}

async function mutateAll(names: (keyof typeof areas)[]): Promise<void> {
  const all: Tally = { mutants: 0, killed: 0, timedOut: 0 };
  for (const name of names) {
    const tally = await mutate(areas[name]);
    show(name, tally, areas[name].least);
    for (const part of ['mutants', 'killed', 'timedOut'] as const) all[part] += tally[part];
  }
  if (names.length === Object.keys(areas).length) show('all', all, leastOverall);
}

const names = readNames();
if (names) {
  await installPackages('tools/mutate');
  // Before Stryker ends the process at once, which no child of it would notice.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stopServers());
  // Once, and not for every mutant.
  await startServers();
  await mutateAll(names).finally(stopServers);
}
