import { type ChildProcess, fork } from 'node:child_process';

interface Reply {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
}

/** Since the process started. */
interface Used {
  cpuMs: number;
  maxMegabytes: number;
}

export interface Host {
  /** Resolves with undefined if the process dies first. */
  call: (name: string, event: unknown, remainingMs: number) => Promise<Reply | undefined>;
  /** Kills the process, whatever it does, and starts another one. */
  kill: () => Promise<void>;
  stop: () => Promise<void>;
  /** As its last call left it. */
  used: () => Used;
}

/** The functions in a process of their own, as Lambda runs them; its pid is the only one that is ever killed. */
export async function startFunctionProcess(
  names: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<Host> {
  const waiting = new Map<number, (reply: Reply | undefined) => void>();
  let calls = 0;
  let lastUsed: Used = { cpuMs: 0, maxMegabytes: 0 };
  let child = await start();

  async function start(): Promise<ChildProcess> {
    const started = fork('tests/support/function-host.ts', {
      env: {
        ...environment,
        NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
        HOSTED_FUNCTIONS: names.join(','),
      },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    await new Promise<void>((resolve, reject) => {
      started.once('exit', () => reject(new Error('The functions did not start.')));
      started.once('message', () => resolve());
    });
    started.removeAllListeners('exit');
    started.on('message', (message) => {
      const { id, reply, used } = message as { id: number; reply: Reply; used: Used };
      lastUsed = used;
      waiting.get(id)?.(reply);
      waiting.delete(id);
    });
    return started;
  }

  async function end(): Promise<void> {
    const { exitCode, signalCode } = child;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    if (exitCode === null && signalCode === null) await ended;
    for (const resolve of waiting.values()) resolve(undefined);
    waiting.clear();
  }

  return {
    call: (name, event, remainingMs) =>
      new Promise((resolve) => {
        calls += 1;
        waiting.set(calls, resolve);
        child.send({ id: calls, name, event, remainingMs }, (error) => {
          if (error) resolve(undefined);
        });
      }),
    kill: async () => {
      await end();
      child = await start();
    },
    stop: end,
    used: () => lastUsed,
  };
}
