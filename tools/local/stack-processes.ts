import { execFileSync } from 'node:child_process';
import type { LocalStack } from './spawn-stack.ts';

interface Process {
  pid: number;
  /** Resident memory. */
  kilobytes: number;
}

/** The process of a local stack that runs the functions. */
export function apiProcess(stack: LocalStack): Process {
  return partOf(stack, /^\S*node .*tools\/local\/start\.ts/);
}

/** The process of a local stack whose command line matches. */
export function partOf({ group }: LocalStack, commandLine: RegExp): Process {
  const text = execFileSync('ps', ['-eo', 'pgid=,pid=,rss=,args='], { encoding: 'utf8' });
  for (const line of text.split('\n')) {
    const [, pgid, pid, kilobytes, args = ''] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    if (Number(pgid) === group && commandLine.test(args))
      return { pid: Number(pid), kilobytes: Number(kilobytes) };
  }
  throw new Error(`The local stack has no process ${commandLine}.`);
}
