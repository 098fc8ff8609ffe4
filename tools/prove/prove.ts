// npm run prove -- [--short | --long] [--only NAMES] [--seed N]
import { parseArgs } from 'node:util';
import { openGround } from './ground.ts';
import type { HuntOptions, Tally } from './hunt.ts';
import { hunts, isHuntName, loadHunt } from './hunts.ts';
import { SeededRandom } from './seeded-random.ts';

const usage = `Hunts for faults in the eight endpoints and the finaliser, with stores and providers of its own.

Usage: npm run prove -- [--short | --long] [--only NAMES] [--seed N]

  --short        Hunt for seconds, not minutes
  --long         Three times as many stories and requests, and ten minutes of load instead of half of one
  --only NAMES   Only these hunts, separated by commas
  --seed N       Another sequence of random choices; 1 unless you say
  --help         Show this text

Hunts
${Object.entries(hunts)
  .map(([name, { about }]) => `  ${name.padEnd(13)}  ${about}`)
  .join('\n')}

Exits with 1 where a hunt has found something, and shows what.
`;

interface Choice {
  length: HuntOptions['length'];
  names: (keyof typeof hunts)[];
  seed: number;
}

const options = {
  short: { type: 'boolean' },
  long: { type: 'boolean' },
  only: { type: 'string' },
  seed: { type: 'string' },
} as const;

function readChoice(): Choice | undefined {
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: 'boolean', short: 'h' } } });
    const { short = false, long = false, only = Object.keys(hunts).join(','), seed = '1', help } = values;
    if (help) return void process.stdout.write(usage);
    const names = only.split(',').map((name) => name.trim());
    const unknown = names.filter((name) => !isHuntName(name));
    if (unknown.length > 0) return refuse(`There is no hunt "${unknown.join(', ')}".`);
    if (!/^\d{1,9}$/.test(seed)) return refuse('--seed takes a whole number.');
    return {
      length: short ? 'short' : long ? 'long' : 'usual',
      names: names.filter(isHuntName),
      seed: Number(seed),
    };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refuse(`${error.message.split(/\n|\. /)[0]}.`);
  }
}

function refuse(sentence: string): undefined {
  process.stderr.write(`${sentence} See npm run prove -- --help\n`);
  process.exitCode = 2;
}

async function prove({ length, names, seed }: Choice): Promise<void> {
  const ground = await openGround();
  try {
    for (const name of names) {
      print(`${name}: ${hunts[name].about} …`);
      const began = performance.now();
      const hunt = await loadHunt(name);
      const tally = await hunt({ arena: ground.arena, random: new SeededRandom(seed), length });
      show(name, tally, (performance.now() - began) / 1000);
    }
  } finally {
    await ground.close();
  }
}

function show(name: string, { counts, violations }: Tally, seconds: number): void {
  const lines = Object.entries(counts)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([what, count]) => `  ${String(count).padStart(8)}  ${what}`);
  const verdict = violations.length === 0 ? 'found nothing' : 'FOUND SOMETHING';
  print(
    `${name}: ${verdict} in ${seconds.toFixed(1)} s`,
    ...lines,
    ...violations.map((text) => `  ! ${text}`),
    '',
  );
  if (violations.length > 0) process.exitCode = 1;
}

/** Standard output belongs to the log of the functions, which the ground reads. */
function print(...lines: string[]): void {
  process.stderr.write(`${lines.join('\n')}\n`);
}

const choice = readChoice();
if (choice) await prove(choice);
