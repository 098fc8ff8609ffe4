import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type LocalStack, startLocalStack } from '../local/spawn-stack.ts';
import { apiProcess } from '../local/stack-processes.ts';
import { type HuntOptions, Tally } from './hunt.ts';
import { type Sample, Traffic } from './load-traffic.ts';
import { SeededRandom } from './seeded-random.ts';

const connections = 64;
/** One caller has twenty times the connections of the other. */
const smallConnections = 3;
const seconds = { short: 6, usual: 30, long: 600 };
const probeMs = 1000;

/** By then every function is loaded, and every pool of connections has its size. */
const warmUpMs = 20_000;
/** Longer than any connection is kept without work. */
const settleMs = 75_000;
const mostGrowth = 0.05;

/** The whole local stack under load: what is not made to fail succeeds, nothing leaks, nobody is starved. */
export async function huntLoad({ random, length }: HuntOptions): Promise<Tally> {
  const tally = new Tally();
  const stack = await startLocalStack();
  try {
    await drive(stack, new SeededRandom(1 + random.below(1000)), warmUpMs);
    if (length !== 'short') await pause(settleMs);
    const before = holdings(stack);
    if (length !== 'short') await drive(stack, new SeededRandom(1 + random.below(1000)), warmUpMs);
    const forSeconds = seconds[length];
    const { big, small, memory } = await drive(stack, random, forSeconds * 1000);
    judgeAnswers(tally, [...big, ...small], forSeconds);
    judgeFairness(tally, big, small);
    judgeMemory(tally, memory, length === 'long');
    if (length === 'short') return tally;
    await pause(settleMs);
    judgeHoldings(tally, before, holdings(stack));
  } finally {
    await stack.stop();
  }
  return tally;
}

async function drive(stack: LocalStack, random: SeededRandom, forMs: number) {
  const end = Date.now() + forMs;
  const memory: number[] = [];
  const misled = { times: 0 };
  await fetch(`${stack.simulatorsUrl}/control/reset`, { method: 'POST' });
  const work = async (count: number) => {
    const traffic = new Traffic(stack, random, count, misled);
    const samples: Sample[] = [];
    const caller = async () => {
      while (Date.now() < end) samples.push(await traffic.next());
    };
    await Promise.all(Array.from({ length: count }, caller));
    traffic.close();
    return samples;
  };
  const probe = async () => {
    while (Date.now() < end) {
      memory.push(apiProcess(stack).kilobytes);
      await pause(probeMs);
    }
  };
  const [big = [], small = []] = await Promise.all([
    work(connections - smallConnections),
    work(smallConnections),
    probe(),
  ]);
  return { big, small, memory };
}

function judgeAnswers(tally: Tally, samples: readonly Sample[], forSeconds: number): void {
  tally.count('requests', samples.length);
  tally.count('requests a second', Math.round(samples.length / forSeconds));
  tally.count('requests made to fail', samples.filter(({ isFaulted }) => isFaulted).length);
  for (const { status, isFaulted, text } of samples)
    if (status !== 200 && !isFaulted) tally.violate('an error that nobody made', status, text);
}

function judgeFairness(tally: Tally, big: readonly Sample[], small: readonly Sample[]): void {
  const [bigMs, smallMs] = [big, small].map((samples) => percentile(samples, 0.95)) as [number, number];
  tally.count('ms for 95 % of the large caller', Math.round(bigMs));
  tally.count('ms for 95 % of the small caller', Math.round(smallMs));
  if (smallMs > 2 * bigMs) tally.violate('the small caller is starved', smallMs, bigMs);
}

/** Compares the second quarter with the last: by then everything is loaded and each pool has its size. */
function judgeMemory(tally: Tally, memory: readonly number[], isBinding: boolean): void {
  const quarter = Math.floor(memory.length / 4);
  const [early, late] = [memory.slice(quarter, 2 * quarter), memory.slice(-quarter)].map(median) as [
    number,
    number,
  ];
  const growth = (late - early) / early;
  tally.count('MB of memory in the second quarter', Math.round(early / 1024));
  tally.count('MB of memory in the last quarter', Math.round(late / 1024));
  if (isBinding && growth > mostGrowth) tally.violate('memory grows', early, late);
}

/** A pool of connections grows with the busiest moment so far; a socket left by one request in 1,000 would be more. */
const mostFilesMore = connections;

function judgeHoldings(tally: Tally, before: Holdings, after: Holdings): void {
  const [threads, files] = [after.threads - before.threads, after.files - before.files];
  tally.count('threads more than before', threads);
  tally.count('open files more than before', files);
  if (threads > 0 || files > mostFilesMore)
    tally.violate('threads, sockets or files stay open', before, after);
}

function percentile(samples: readonly Sample[], share: number): number {
  const sorted = samples.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

interface Holdings {
  threads: number;
  files: number;
}

function holdings(stack: LocalStack): Holdings {
  const { pid } = apiProcess(stack);
  const count = (folder: string) => readdirSync(`/proc/${pid}/${folder}`).length;
  return { threads: count('task'), files: count('fd') };
}
