import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

/** Functions in a process of their own. */
export interface FunctionProcess {
  name: string;
  invoke: (invocation: Pick<Invocation, 'name' | 'input'> & Partial<Invocation>) => Promise<unknown>;
  /** Its last log lines. */
  log: () => string;
  stop: () => Promise<void>;
}

interface Settings {
  /** In its error sentences. */
  name: string;
  /** Where a function is, by its name. */
  fileOf: (name: string) => string;
  environment: NodeJS.ProcessEnv;
}

export interface Invocation {
  /** That of a function, or `admin` with the words of a command line. */
  name: string;
  input: unknown;
  /** Where it is, if not where `fileOf` says. */
  file: string;
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

export function startFunctions({ name, fileOf, environment }: Settings): FunctionProcess {
  const child: ChildProcess = fork(join(import.meta.dirname, 'run-functions.ts'), [], {
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
  const take = (reply: Reply) => {
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  };
  const fail = (id: number) => take({ id, error: `The process of ${name} ended.\n${log}` });
  child.on('message', take);
  child.on('exit', () => {
    for (const id of waiting.keys()) fail(id);
  });
  const invoke: FunctionProcess['invoke'] = async ({ laterMs = 0, limitMs = 29_000, ...invocation }) => {
    last += 1;
    const id = last;
    const reply = new Promise<Reply>((resolve) => waiting.set(id, resolve));
    const message = { id, file: fileOf(invocation.name), laterMs, limitMs, ...invocation };
    child.send(message, (error) => error && fail(id));
    const { answer, error } = await reply;
    if (error !== undefined) throw new Error(`${name} ${invocation.name}: ${error}`);
    return answer;
  };
  const stop = () =>
    new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once('exit', () => resolve());
      child.disconnect();
    });
  return { name, invoke, log: () => log, stop };
}
