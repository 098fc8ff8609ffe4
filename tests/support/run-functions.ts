// The program of function-process.ts: functions, and an administration, from the files that its calls name
import { AsyncLocalStorage } from 'node:async_hooks';
import http from 'node:http';
import { inspect } from 'node:util';
import { pathToFileURL } from 'node:url';
import { moveClock, runLater } from './moved-clock.ts';
import type { Invocation, Reply } from './function-process.ts';

const [clockOffset] = process.argv.slice(2);
const running = new AsyncLocalStorage<string>();

moveClock(Number(clockOffset));

// In AWS each function has its role. Here all share a process, so each call says whose it is.
const { request } = http;
http.request = ((...args: Parameters<typeof request>) => {
  const sent = request(...args);
  const name = running.getStore();
  if (name !== undefined) sent.setHeader('running-function', name);
  return sent;
}) as typeof request;
// The bundles get the module itself, and what imports it here its copy.
Object.assign(process.getBuiltinModule('node:http'), { request: http.request });

type Call = Invocation & { id: number; file: string };

async function invoke({ name, file, input, isLoad, laterMs, limitMs }: Call): Promise<unknown> {
  const module = await import(pathToFileURL(file).href);
  if (isLoad) return undefined;
  if (name === 'admin') return module.runCommandLine(input);
  const end = performance.now() + limitMs;
  const context = {
    awsRequestId: crypto.randomUUID(),
    getRemainingTimeInMillis: () => Math.max(0, Math.round(end - performance.now())),
  };
  return running.run(name, () => runLater(laterMs, () => module.handler(input, context)));
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
