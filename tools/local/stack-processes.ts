import { execFileSync } from 'node:child_process';
import type { LocalStack } from './spawn-stack.ts';

interface Process {
  pid: number;
  /** Resident memory. */
  kilobytes: number;
  commandLine: string;
}

/** All processes of a local stack, npm included. */
export function processesOf({ group }: LocalStack): Process[] {
  const text = execFileSync('ps', ['-eo', 'pgid=,pid=,rss=,args='], { encoding: 'utf8' });
  const processes = text.matchAll(/^ *(\d+) +(\d+) +(\d+) +(.*)$/gm);
  return [...processes].flatMap(([, pgid, pid, kilobytes, commandLine = '']) =>
    Number(pgid) === group ? { pid: Number(pid), kilobytes: Number(kilobytes), commandLine } : [],
  );
}
