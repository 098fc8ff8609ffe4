// The process of one release: its functions and its administration, as their bundles have them
import { AsyncLocalStorage } from 'node:async_hooks';
import http from 'node:http';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { pathToFileURL } from 'node:url';
import { moveClock, runLater } from './clock.ts';
import type { Invocation, Reply } from './release.ts';

const [folder = '', clockOffset] = process.argv.slice(2);
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

async function invoke({ name, input, laterMs, limitMs }: Invocation): Promise<unknown> {
  const module = await import(pathToFileURL(join(folder, name, 'index.js')).href);
  if (name === 'admin') return module.runCommandLine(input);
  const end = performance.now() + limitMs;
  const context = {
    awsRequestId: crypto.randomUUID(),
    getRemainingTimeInMillis: () => Math.max(0, Math.round(end - performance.now())),
  };
  return running.run(name, () => runLater(laterMs, () => module.handler(input, context)));
}

process.on('message', async ({ id, ...invocation }: Invocation & { id: number }) => {
  const reply: Reply = await invoke(invocation).then(
    (answer) => ({ id, answer }),
    (error: unknown) => ({ id, error: inspect(error) }),
  );
  process.send?.(reply);
});

process.on('disconnect', () => process.exit());
