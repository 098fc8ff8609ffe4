import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface Ending {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd?: string;
  /** Added to this process's environment; undefined removes a variable. */
  env?: NodeJS.ProcessEnv;
}

/** Runs a program to its end, without the flags that only the tests themselves need. */
export function runProgram(
  command: string,
  args: readonly string[],
  { cwd, env }: RunOptions = {},
): Promise<Ending> {
  const options = { cwd, env: { ...process.env, NODE_OPTIONS: '--conditions=in-tree', ...env } };
  return new Promise((resolve) => {
    const child = execFile(command, args, options, (_, stdout, stderr) =>
      resolve({ code: Number(child.exitCode), stdout, stderr }),
    );
  });
}

export const own = /^(?:GITHUB_|GITLAB_|ACTIONS_|NODE_REGISTRY_|GIT_|npm_|NODE_OPTIONS$|INIT_CWD$)/;

/** This process's environment without the variables of npm, git and CI, as in a person's shell. */
export const plainEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !own.test(name)),
);

/** The same in that environment. */
export function runFile(file: string, args: readonly string[], options: RunOptions = {}): Promise<Ending> {
  const absent = Object.keys(process.env).filter((name) => own.test(name));
  const env = { ...Object.fromEntries(absent.map((name) => [name, undefined])), ...options.env };
  return runProgram(file, args, { ...options, env });
}

export type Files = Record<string, string | Buffer>;

export async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

/** Files without content, by their names separated by spaces. */
export function emptyFiles(names: string): Files {
  return Object.fromEntries(names.split(' ').map((name) => [name, '']));
}

/** Git without the settings of this machine. */
export async function git(folder: string, ...args: string[]): Promise<string> {
  const env = {
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  };
  const { code, stdout, stderr } = await runFile('git', args, { cwd: folder, env });
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout;
}
