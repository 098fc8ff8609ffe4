import { resolve } from 'node:path';
import { startFunctions } from '../../tools/processes/function-process.ts';

interface Reply {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
}

export interface Host {
  /** Resolves with undefined if the process dies first. */
  call: (name: string, event: unknown, remainingMs: number) => Promise<Reply | undefined>;
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
        (answer) => answer as Reply,
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
