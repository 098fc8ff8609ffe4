import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type LocalStack, startLocalStack } from '../local/spawn-stack.ts';
import { apiProcess } from '../local/stack-processes.ts';
import type { CheckOptions } from './check.ts';
import { plannedRequests, type Sample, Traffic } from './load-traffic.ts';
import { Report } from './report.ts';

const connections = 64;
/** One caller has twenty times the connections of the other. */
const smallConnections = 3;
const probeMs = 1000;

/** The short form counts requests, not seconds, so that it does the same on slow and fast machines. */
interface Bound {
  requests: number;
  ms: number;
}
const unbounded = Number.POSITIVE_INFINITY;
const bounds = {
  short: { requests: 2000, ms: unbounded },
  usual: { requests: unbounded, ms: 30_000 },
  long: { requests: unbounded, ms: 600_000 },
};
/** After these, every function is loaded and every connection pool has its size. */
const warmUps = {
  short: { requests: 500, ms: unbounded },
  usual: { requests: unbounded, ms: 20_000 },
  long: { requests: unbounded, ms: 20_000 },
};

/** Longer than any idle connection is kept. */
const quietMs = 75_000;
const maxGrowth = 0.05;

/** The whole local stack under load: only requests that are made to fail do, nothing leaks, no caller is starved. */
export async function checkLoad({ seed, length }: CheckOptions): Promise<Report> {
  const report = new Report();
  const stack = await startLocalStack();
  try {
    await drive(stack, seed, warmUps[length]);
    const before = length === 'short' ? undefined : await holdingsAtRest(stack);
    if (before) await drive(stack, seed, warmUps[length]);
    const traffic = await drive(stack, seed, bounds[length]);
    judgeAnswers(report, traffic);
    judgeFairness(report, traffic);
    judgeMemory(report, traffic.memory, length === 'long');
    if (before) judgeHoldings(report, before, await holdingsAtRest(stack));
  } finally {
    await stack.stop();
  }
  return report;
}

interface Driven {
  big: Sample[];
  small: Sample[];
  memory: number[];
  seconds: number;
}

async function drive(stack: LocalStack, seed: number, bound: Bound): Promise<Driven> {
  const began = Date.now();
  const planned = plannedRequests(seed);
  const memory: number[] = [];
  const misled = { times: 0 };
  let sent = 0;
  const isDone = () => sent >= bound.requests || Date.now() - began >= bound.ms;
  await fetch(`${stack.simulatorsUrl}/control/reset`, { method: 'POST' });
  const work = async (count: number) => {
    const traffic = new Traffic(stack, count, misled);
    const samples: Sample[] = [];
    const caller = async () => {
      while (!isDone()) {
        const next = planned[sent % planned.length];
        sent += 1;
        if (next) samples.push(await traffic.send(next));
      }
    };
    await Promise.all(Array.from({ length: count }, caller));
    traffic.close();
    return samples;
  };
  const probe = async () => {
    while (!isDone()) {
      memory.push(apiProcess(stack).kilobytes);
      await pause(probeMs);
    }
  };
  const [big, small] = await Promise.all([
    work(connections - smallConnections),
    work(smallConnections),
    probe(),
  ]);
  return { big, small, memory, seconds: (Date.now() - began) / 1000 };
}

function judgeAnswers(report: Report, { big, small, seconds }: Driven): void {
  const samples = [...big, ...small];
  report.count('requests', samples.length);
  report.count('requests a second', Math.round(samples.length / seconds));
  report.count('requests made to fail', samples.filter(({ isFaulted }) => isFaulted).length);
  for (const { status, isFaulted, text } of samples)
    if (status !== 200 && !isFaulted) report.violate('an error that was not injected', status, text);
}

/**
 * Both callers send their next request after each answer, so the number of requests by connection shows how long a
 * caller waits on average. That needs no clock, and a few slow answers do not decide it.
 */
function judgeFairness(report: Report, { big, small }: Driven): void {
  for (const [name, samples] of Object.entries({ large: big, small })) {
    const waits = samples.map(({ ms }) => ms).toSorted((a, b) => a - b);
    const at = (share: number) => Math.round(waits[Math.floor(share * (waits.length - 1))] ?? 0);
    report.count(`ms for 50 % of the ${name} caller`, at(0.5));
    report.count(`ms for 95 % of the ${name} caller`, at(0.95));
    report.count(`ms for the longest wait of the ${name} caller`, at(1));
  }
  const share = small.length / smallConnections / (big.length / (connections - smallConnections));
  report.count('% of its share that the small caller got', Math.round(100 * share));
  if (share < 0.5) report.violate('the small caller is starved', small.length, big.length);
}

/** Compares the second quarter with the last: after the first, everything is loaded and each pool has its size. */
function judgeMemory(report: Report, memory: readonly number[], isBinding: boolean): void {
  const quarter = Math.floor(memory.length / 4);
  const [early, late] = [memory.slice(quarter, 2 * quarter), memory.slice(-quarter)].map(median) as [
    number,
    number,
  ];
  report.count('MB of memory in the second quarter', Math.round(early / 1024));
  report.count('MB of memory in the last quarter', Math.round(late / 1024));
  if (isBinding && (late - early) / early > maxGrowth) report.violate('memory grows', early, late);
}

/** A connection pool grows with the peak load; a socket leaked by one request in 1,000 would be more. */
const maxMoreFiles = connections;

function judgeHoldings(report: Report, before: Holdings, after: Holdings): void {
  const [threads, files] = [after.threads - before.threads, after.files - before.files];
  report.count('threads more than before', threads);
  report.count('open files more than before', files);
  if (threads > 0 || files > maxMoreFiles)
    report.violate('threads, sockets or files stay open', before, after);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

interface Holdings {
  threads: number;
  files: number;
}

async function holdingsAtRest(stack: LocalStack): Promise<Holdings> {
  await pause(quietMs);
  const { pid } = apiProcess(stack);
  const count = (folder: string) => readdirSync(`/proc/${pid}/${folder}`).length;
  return { threads: count('task'), files: count('fd') };
}
