import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { bundle } from '../../infra/bundle/build.ts';
import { type Figure, inTurns, ratio } from './figures.ts';
import { readEvent } from './servers.ts';

type Handler = (event: unknown, context: object) => Promise<unknown>;

const context = { getRemainingTimeInMillis: () => 29_000 };
const tasksPerRound = 40;
const callsPerTask = 50;
const warmUpRounds = 10;

/** The cost of everything around a handler, relative to the same endpoint written by hand. */
export async function measureWarm(folder: string, rounds: number): Promise<Figure> {
  const event = JSON.stringify(await readEvent('text-to-video'));
  const entries = { ours: 'tools/bench/endpoint.ts', byHand: 'tools/bench/endpoint-by-hand.ts' };
  const home = join(folder, 'warm');
  await mkdir(home);
  await writeFile(join(home, 'package.json'), '{"type":"module"}');
  for (const { path, contents } of await bundle(entries, home)) await writeFile(path, contents);
  const runOf = async (name: string) => {
    const { handler } = (await import(pathToFileURL(join(home, `${name}.js`)).href)) as { handler: Handler };
    return async () => {
      let sum = 0;
      for (let task = 0; task < tasksPerRound; task += 1) {
        // Each request is a task of its own, so that its garbage can be freed between requests.
        await setImmediate();
        // As Lambda passes them: parsed, and a new object each time.
        const events = Array.from({ length: callsPerTask }, () => JSON.parse(event));
        const began = process.cpuUsage();
        for (const each of events) await handler(each, context);
        const { user, system } = process.cpuUsage(began);
        sum += user + system;
      }
      return sum;
    };
  };
  const runs = { ours: await runOf('ours'), byHand: await runOf('byHand') };
  // The functions write their log lines, which count, but are not shown.
  const { write } = process.stdout;
  process.stdout.write = () => true;
  try {
    await inTurns(warmUpRounds, runs);
    const { ours, byHand } = await inTurns(rounds, runs);
    return ratio('warm endpoint', ours, byHand, 2);
  } finally {
    process.stdout.write = write;
  }
}
