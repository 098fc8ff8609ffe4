import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

/** The bundles of a release, running in a process of their own. */
export interface RunningRelease {
  name: string;
  invoke: (invocation: Pick<Invocation, 'name' | 'input'> & Partial<Invocation>) => Promise<unknown>;
  /** Its last log lines. */
  log: () => string;
  stop: () => Promise<void>;
}

export interface Invocation {
  /** The folder of a function, or `admin` with the words of a command line. */
  name: string;
  input: unknown;
  /** As if so much time had passed. */
  laterMs: number;
  limitMs: number;
}

export interface Reply {
  id: number;
  answer?: unknown;
  error?: string;
}

const keptLog = 20_000;

/** Runs the bundles in a folder with one folder for each function. */
export function runRelease(
  name: string,
  folder: string,
  environment: NodeJS.ProcessEnv,
  clockOffset: number,
): RunningRelease {
  const program = join(import.meta.dirname, 'run-functions.ts');
  const child: ChildProcess = fork(program, [folder, String(clockOffset)], {
    env: { ...environment, PATH: process.env.PATH },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes) => {
      log = (log + bytes).slice(-keptLog);
    });
  const waiting = new Map<number, (reply: Reply) => void>();
  let last = 0;
  child.on('message', (reply: Reply) => {
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  child.on('exit', () => {
    for (const [id, resolve] of waiting) resolve({ id, error: `The process of ${name} ended.\n${log}` });
  });
  const invoke: RunningRelease['invoke'] = async ({ laterMs = 0, limitMs = 29_000, ...invocation }) => {
    last += 1;
    const id = last;
    const reply = new Promise<Reply>((resolve) => waiting.set(id, resolve));
    child.send({ id, laterMs, limitMs, ...invocation });
    const { answer, error } = await reply;
    if (error !== undefined) throw new Error(`${name} ${invocation.name}: ${error}`);
    return answer;
  };
  const stop = () =>
    new Promise<void>((resolve) => {
      if (child.exitCode !== null) return resolve();
      child.once('exit', () => resolve());
      child.disconnect();
    });
  return { name, invoke, log: () => log, stop };
}
