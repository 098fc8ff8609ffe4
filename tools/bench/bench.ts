import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Option } from 'commander';
import { createCommand, positiveNumber, runCommand } from 'command-line/command';
import { buildFunctions } from '../../infra/bundle/build.ts';
import { buildEndpoints } from './builds.ts';
import { measureColdStarts, measurePeakMemory } from './cold.ts';
import type { Figure } from './figures.ts';
import {
  compareAndSave,
  grossRegressions,
  machineName,
  type Report,
  readBaseline,
  render,
} from './report.ts';
import { measureSizes } from './sizes.ts';
import { measureThroughput } from './throughput.ts';
import { measureArchiveCheck, measureLargeBody, measureSigning, measureWarm } from './warm.ts';
import { startServers } from './servers.ts';

interface Options {
  short?: true;
  compare?: true;
  minutes: number;
  save?: true;
}

const command = createCommand({
  name: 'npm run bench --',
  summary: 'Measures how fast the functions start and answer, on this machine and without a network',
  notes:
    'Every time is a ratio to something that was measured in turns with it, so that runs on different machines can be compared.',
  examples: ['--short', '--compare'],
})
  .addOption(
    new Option(
      '--short',
      'only the cold starts, the endpoint and the sizes, in less than a minute; fails if they are much worse than in tools/bench/baseline.json',
    ).conflicts('save'),
  )
  .option('--compare', 'list what moved by more than the noise since the baseline')
  .option(
    '--minutes <N>',
    'how long to send requests to the local stack, over three numbers of connections',
    positiveNumber,
    0.25,
  )
  .option('--save', 'keep the result as the baseline')
  .action(async (options: Options) => process.exit(await run(options)));

process.exitCode = await runCommand(command, process.argv.slice(2));

async function run(options: Options): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'node-registry-bench-'));
  const servers = await startServers();
  try {
    await buildFunctions();
    const place = { servers, folder };
    const figures = await (options.short ? measureShortly(place) : measureAll(place, options));
    const date = new Date().toISOString().slice(0, 10);
    const report: Report = { date, machine: machineName(), figures };
    process.stdout.write(render(report));
    const { compare: isCompared = false, save: isSaved = false } = options;
    const moved = await compareAndSave(report, { isCompared, isSaved });
    if (isCompared) say(moved, 'Nothing moved by more than the noise.');
    return options.short ? await judge(report, place) : 0;
  } finally {
    await servers.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Fails only for a large slowdown twice in a row, because a busy machine can spoil one run. */
async function judge(report: Report, place: Place): Promise<number> {
  const baseline = await readBaseline();
  let worse = grossRegressions(baseline, report);
  if (worse.length > 0) {
    const again = grossRegressions(baseline, { ...report, figures: await measureShortly(place) });
    worse = worse.filter(({ name }) => again.some((figure) => figure.name === name));
  }
  say(
    worse.map(({ text }) => text),
    'Nothing is much worse than the baseline.',
  );
  return worse.length > 0 ? 1 : 0;
}

type Place = Pick<Parameters<typeof measureColdStarts>[0], 'servers' | 'folder'>;

async function measureShortly(place: Place): Promise<Figure[]> {
  return [
    ...(await measureSizes()),
    ...(await measureColdStarts({ ...place, rounds: 4 }, false)),
    await measureWarm(await buildEndpoints(place.folder), 7),
  ];
}

async function measureAll(place: Place, { minutes }: Options): Promise<Figure[]> {
  return [
    ...(await measureSizes()),
    ...(await measureColdStarts({ ...place, rounds: 21 }, true)),
    await measurePeakMemory(place),
    await measureWarm(await buildEndpoints(place.folder), 21),
    await measureLargeBody(15),
    await measureSigning(15),
    await measureArchiveCheck(11),
    ...(await measureThroughput(minutes * 60)),
  ];
}

function say(lines: string[], otherwise: string): void {
  process.stderr.write(`\n${(lines.length > 0 ? lines : [otherwise]).join('\n')}\n`);
}
