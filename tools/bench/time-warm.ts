// Prints the CPU time of each round of both endpoints in a folder: node tools/bench/time-warm.ts FOLDER
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { inTurns } from './figures.ts';

type Handler = (event: unknown, context: object) => Promise<unknown>;

const context = { getRemainingTimeInMillis: () => 29_000 };
const tasksPerRound = 40;
const callsPerTask = 50;
const [warmUpRounds, rounds] = [10, 21];
const event = await readFile('events/text-to-video.json', 'utf8');

const runs = { ours: await runOf('ours'), byHand: await runOf('byHand') };
// The functions write their log lines, which count, but aren't shown.
const { write } = process.stdout;
process.stdout.write = () => true;
await inTurns(warmUpRounds, runs);
const times = await inTurns(rounds, runs);
process.stdout.write = write;
process.stdout.write(JSON.stringify(times));

async function runOf(name: string): Promise<() => Promise<number>> {
  const file = pathToFileURL(join(String(process.argv[2]), `${name}.js`)).href;
  const { handler } = (await import(file)) as { handler: Handler };
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
}
