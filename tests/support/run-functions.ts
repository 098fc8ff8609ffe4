// The program of function-process.ts: functions, and an administration, from the files that its calls name
import { AsyncLocalStorage } from 'node:async_hooks';
import { inspect } from 'node:util';
import { pathToFileURL } from 'node:url';
import { asFunction, nameFunctions } from './roles.ts';
import type { Invocation, Reply } from './function-process.ts';

const RealDate = Date;
const later = new AsyncLocalStorage<number>();

/** Work may run as if so much more time had passed, so that a recorded table is as old as it was when it was recorded. */
class MovedDate extends RealDate {
  constructor(...values: unknown[]) {
    super(...((values.length === 0 ? [MovedDate.now()] : values) as [number]));
  }
  static override now(): number {
    return RealDate.now() + (later.getStore() ?? 0);
  }
}
globalThis.Date = MovedDate as DateConstructor;

nameFunctions();

type Call = Invocation & { id: number };

async function invoke({ name, file, input, laterMs, limitMs }: Call): Promise<unknown> {
  // A function reads its secrets while it loads.
  const module = await asFunction(
    name === 'admin' ? undefined : name,
    () => import(pathToFileURL(file).href),
  );
  if (name === 'admin') return module.runCommandLine(input);
  const end = performance.now() + limitMs;
  const context = {
    awsRequestId: crypto.randomUUID(),
    getRemainingTimeInMillis: () => Math.max(0, Math.round(end - performance.now())),
  };
  return asFunction(name, () => later.run(laterMs, () => module.handler(input, context)));
}

process.on('message', async (call: Call) => {
  const reply: Omit<Reply, 'id'> = await invoke(call).then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error: inspect(error) }),
  );
  process.send?.({ id: call.id, ...reply });
});

process.on('disconnect', () => process.exit());
