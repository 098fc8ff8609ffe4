import { type ChildProcess, fork } from 'node:child_process';
import { join, resolve } from 'node:path';

/** Functions in a process of their own. */
export interface FunctionProcess {
  name: string;
  invoke: (invocation: Pick<Invocation, 'name' | 'input'> & Partial<Invocation>) => Promise<unknown>;
  /** Its last log lines. */
  log: () => string;
  /** As its last reply left it. */
  used: () => Used;
  stop: () => Promise<void>;
  kill: () => Promise<void>;
}

interface Settings {
  /** In its error sentences. */
  name: string;
  /** Where a function is, by its name. */
  fileOf: (name: string) => string;
  environment: NodeJS.ProcessEnv;
  /** How far its clock is from this process's. */
  clockOffset: number;
}

export interface Invocation {
  /** That of a function, or `admin` with the words of a command line. */
  name: string;
  input: unknown;
  /** Where it is, if not where `fileOf` says. */
  file: string;
  /** Only loads the function. */
  isLoad: boolean;
  /** As if so much time had passed. */
  laterMs: number;
  limitMs: number;
}

/** Since the process started. */
interface Used {
  cpuMs: number;
  maxMegabytes: number;
}

export interface Reply {
  id: number;
  answer?: unknown;
  error?: string;
  used?: Used;
}

const keptLog = 20_000;

export function startFunctions({ name, fileOf, environment, clockOffset }: Settings): FunctionProcess {
  const child: ChildProcess = fork(join(import.meta.dirname, 'run-functions.ts'), [String(clockOffset)], {
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
  let used: Used = { cpuMs: 0, maxMegabytes: 0 };
  const take = (reply: Reply) => {
    used = reply.used ?? used;
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
  const end = (how: () => void) =>
    new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once('exit', () => resolve());
      how();
    });
  const stop = () => end(() => child.disconnect());
  const kill = () => end(() => child.kill('SIGKILL'));
  return { name, invoke, log: () => log, used: () => used, stop, kill };
}

interface GatewayReply {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
}

export interface Host {
  /** Resolves with undefined if the process dies first. */
  call: (name: string, event: unknown, remainingMs: number) => Promise<GatewayReply | undefined>;
  /** Kills the process, whatever it does, and starts another one. */
  kill: () => Promise<void>;
  stop: () => Promise<void>;
  /** As its last call left it. */
  used: () => { cpuMs: number; maxMegabytes: number };
}

/** The functions in a process of their own, as Lambda runs them; its pid is the only one that is ever killed. */
export async function startFunctionProcess(
  names: readonly string[],
  environment: NodeJS.ProcessEnv,
  clockOffset = 0,
): Promise<Host> {
  const start = async () => {
    const started = startFunctions({
      name: 'The tests',
      fileOf: (name) => resolve(`functions/${name}.ts`),
      environment: { ...environment, NODE_OPTIONS: '' },
      clockOffset,
    });
    // Before the first call, whose time has begun to run.
    await Promise.all(names.map((name) => started.invoke({ name, input: undefined, isLoad: true })));
    return started;
  };
  let running = await start();
  return {
    call: (name, input, limitMs) =>
      running.invoke({ name, input, limitMs }).then(
        (answer) => answer as GatewayReply,
        () => undefined,
      ),
    kill: async () => {
      await running.kill();
      running = await start();
    },
    stop: () => running.kill(),
    used: () => running.used(),
  };
}
