// Run by hostile.test.ts as a process of its own: a pack that aborts V8 ends this one, and no other test.
import { readFile } from 'node:fs/promises';
import { extractInWorker } from '../extract-in-worker.ts';
import { limits } from '../limits.ts';
import { hostilePacks, hungry } from './hostile-packs.ts';
import { extract } from './packs.ts';

export interface HostileResult {
  status: string;
  /** The CPU time, over that of a loop: of as many steps if it used up its own, otherwise of all steps of a pack. */
  timesALoop: number;
  isPolluted: boolean;
}

/** Time grows with the steps, so a part of them shows how fast it does. */
const part = 5;
const options = { steps: limits.packSteps / part };

const [kind] = process.argv.slice(2);
process.stdout.write(JSON.stringify(kind === undefined ? extractAll() : await extractOne(kind)));

function timeALoop(): number {
  const loop = () => cpuOf(() => extract('while True:\n    pass', options));
  loop();
  return Math.min(loop(), loop(), loop());
}

/** The hungry packs run elsewhere, each with all steps of a thread. */
function extractAll(): Record<string, HostileResult> {
  const loopMs = timeALoop();
  const results = Object.entries(hostilePacks).flatMap(([name, files]) => {
    if (hungry.includes(name)) return [];
    let extraction = extract('');
    const ms = cpuOf(() => {
      extraction = extract(files, options);
    });
    const { status, steps } = extraction;
    const expectedMs = steps < options.steps ? loopMs * part : loopMs;
    const isPolluted = Object.getOwnPropertyNames(Object.prototype).includes('polluted');
    return [[name, { status, timesALoop: ms / expectedMs, isPolluted }] as const];
  });
  return Object.fromEntries(results);
}

/** One pack in a thread, as the function runs it, and the most memory that this process had; `maxRSS` counts Jest's too. */
async function extractOne(name: string): Promise<{ status: string; timesALoop: number; megabytes: number }> {
  const files = hostilePacks[name];
  if (files === undefined) throw new Error(`No hostile pack is called "${name}".`);
  const entries = Object.entries(typeof files === 'string' ? { '__init__.py': files } : files);
  const began = process.cpuUsage();
  const { status } = await extractInWorker(new Map(entries), 'pack');
  const { user, system } = process.cpuUsage(began);
  const timesALoop = (user + system) / 1000 / (timeALoop() * part);
  const mark = /VmHWM:\s+(\d+) kB/.exec(await readFile('/proc/self/status', 'utf8').catch(() => ''));
  return { status, timesALoop, megabytes: Number(mark?.[1] ?? process.resourceUsage().maxRSS) / 1024 };
}

/** The time of this thread: other work on the machine is not the pack's. */
function cpuOf(work: () => void): number {
  const started = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(started);
  return (user + system) / 1000;
}
