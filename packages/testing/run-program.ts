import { execFile } from 'node:child_process';
import { jest } from '@jest/globals';

// A program may have to be compiled first.
jest.setTimeout(60_000);

export interface ProgramResult {
  status: number;
  stdout: string;
  stderr: string;
}

interface Options {
  cwd?: string;
  /** Added to this process's environment; undefined removes a variable. */
  environment?: NodeJS.ProcessEnv;
}

/** Runs a program to its end, without the flags that only the tests themselves need. */
export function runProgram(
  command: string,
  args: readonly string[],
  { cwd, environment }: Options = {},
): Promise<ProgramResult> {
  const env = { ...process.env, NODE_OPTIONS: '--conditions=in-tree', ...environment };
  return new Promise((resolve) => {
    const child = execFile(command, args, { cwd, env }, (_, stdout, stderr) =>
      resolve({ status: Number(child.exitCode), stdout, stderr }),
    );
  });
}
