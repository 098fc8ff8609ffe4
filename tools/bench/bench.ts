import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildOurs, buildUsually, unpackFunctions } from './builds.ts';
import { measureColdAlternatives, measureColdStarts, measurePeakMemory, measureSmallMemory } from './cold.ts';
import type { Figure } from './figures.ts';
import { picture } from './picture.ts';
import { compare, grossRegressions, machineName, type Report, table } from './report.ts';
import { measureSizes } from './sizes.ts';
import { measureThroughput } from './throughput.ts';
import { byHand, measureLargeBody, measureSigning, measureWarm } from './warm.ts';
import { createWorld } from './world.ts';

const usage = `Usage: npm run bench [-- options]

Measures how fast the functions start and answer, on this machine and without a network. Every time is a ratio
to something that was measured in turns with it, so that runs on different machines can be compared.

  --short         the cold starts, the endpoint and the sizes alone, in less than a minute; fails where they are
                  much worse than tools/bench/baseline.json says
  --compare       say what moved, by more than the noise, since the baseline
  --minutes N     how long to send requests to the local stack, over three numbers of connections (default 0.25)
  --json          print JSON
  --save          keep the result as the baseline, and draw docs/bench.svg
  --help          show this text
`;

const baselineFile = 'tools/bench/baseline.json';
const pictureFile = 'docs/bench.svg';

/** The same endpoint made with each of these; see tools/bench/alternatives. */
const alternatives = {
  [byHand]: 'by-hand',
  'this service': 'ours',
  hono: 'hono',
  Powertools: 'powertools',
  fastify: 'fastify',
  express: 'express',
};

/** Apart from the others: a function is alone in its process, where V8 knows the one way in which its code is used. */
const ourselves = [byHand, 'this service'];
const others = Object.keys(alternatives).filter((name) => !ourselves.includes(name));

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    compare: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '0.25' },
    json: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(usage);
else process.exit(await run());

async function run(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'node-registry-bench-'));
  const world = await createWorld();
  try {
    const place = { world, folder, deployed: await unpackFunctions(join(folder, 'deployed')) };
    const figures = await (values.short ? measureShortly : measureAll)(place);
    const report = { date: new Date().toISOString().slice(0, 10), machine: machineName(), figures };
    process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : table(report));
    if (values.save) {
      await writeFile(baselineFile, `${JSON.stringify(report, null, 2)}\n`);
      await writeFile(pictureFile, picture(report));
    }
    if (values.compare) say(compare(await readBaseline(), report), 'Nothing moved by more than the noise.');
    return values.short ? await judge(report, place) : 0;
  } finally {
    await world.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Fails only for what is much worse twice: machines have moments. */
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

type Place = Pick<Parameters<typeof measureColdStarts>[0], 'world' | 'folder' | 'deployed'>;

async function measureShortly(place: Place): Promise<Figure[]> {
  const files = await buildAlternatives(place.folder, ourselves);
  return [
    ...(await measureSizes()),
    ...(await measureColdStarts({ ...place, rounds: 4 }, false)),
    ...(await measureWarm(files, 7)),
  ];
}

async function measureAll(place: Place): Promise<Figure[]> {
  const files = await buildAlternatives(place.folder, [...ourselves, ...others]);
  const { measureGrowth } = await import('./growth.ts');
  return [
    ...(await measureSizes()),
    ...(await measureColdStarts({ ...place, rounds: 21 }, true)),
    ...(await measureSmallMemory({ ...place, rounds: 11 })),
    await measurePeakMemory(place),
    ...(await measureColdAlternatives({ ...place, rounds: 15 }, files)),
    ...(await measureWarm(of(files, ourselves), 21)),
    ...(await measureWarm(of(files, [byHand, ...others]), 21)),
    await measureLargeBody(15),
    await measureSigning(15),
    ...(await measureGrowth(11)),
    ...(await measureThroughput(Number(values.minutes) * 60)),
  ];
}

function of(files: Record<string, string>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(files).filter(([name]) => names.includes(name)));
}

async function buildAlternatives(folder: string, names: readonly string[]): Promise<Record<string, string>> {
  const built = Object.entries(of(alternatives, names)).map(async ([name, file]) => {
    const build = file === 'ours' ? buildOurs : buildUsually;
    return [name, await build(`tools/bench/alternatives/${file}.ts`, join(folder, file))] as const;
  });
  return Object.fromEntries(await Promise.all(built));
}

async function readBaseline(): Promise<Report> {
  return JSON.parse(await readFile(baselineFile, 'utf8'));
}

/** On standard error, so that --json stays JSON. */
function say(lines: string[], otherwise: string): void {
  process.stderr.write(`\n${(lines.length > 0 ? lines : [otherwise]).join('\n')}\n`);
}
