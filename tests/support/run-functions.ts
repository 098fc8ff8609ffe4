// The program of function-process.ts: functions, and an administration, from the files that its calls name
import { inspect } from 'node:util';
import { pathToFileURL } from 'node:url';
import { moveClock, runLater } from './moved-clock.ts';
import { asFunction, nameFunctions } from './roles.ts';
import type { Invocation, Reply } from './function-process.ts';

const [clockOffset] = process.argv.slice(2);

moveClock(Number(clockOffset));

nameFunctions();

type Call = Invocation & { id: number };

async function invoke({ name, file, input, isLoad, laterMs, limitMs }: Call): Promise<unknown> {
  // A function reads its secrets while it loads.
  const module = await asFunction(
    name === 'admin' ? undefined : name,
    () => import(pathToFileURL(file).href),
  );
  if (isLoad) return undefined;
  if (name === 'admin') return module.runCommandLine(input);
  const end = performance.now() + limitMs;
  const context = {
    awsRequestId: crypto.randomUUID(),
    getRemainingTimeInMillis: () => Math.max(0, Math.round(end - performance.now())),
  };
  return asFunction(name, () => runLater(laterMs, () => module.handler(input, context)));
}

process.on('message', async (call: Call) => {
  const reply: Omit<Reply, 'id'> = await invoke(call).then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error: inspect(error) }),
  );
  const { user, system } = process.cpuUsage();
  const used = { cpuMs: (user + system) / 1000, maxMegabytes: process.resourceUsage().maxRSS / 1024 };
  process.send?.({ id: call.id, ...reply, used });
});

process.on('disconnect', () => process.exit());
