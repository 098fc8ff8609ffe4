/** Runs in a process of its own, which a test may kill at any moment: the functions, with a clock that is wrong. */

interface Call {
  id: number;
  name: string;
  event: unknown;
  remainingMs: number;
}

const offset = Number(process.env.CLOCK_OFFSET_MS ?? 0);
const now = Date.now;
Date.now = () => now() + offset;

const handlers = new Map<string, Promise<(event: unknown, context: unknown) => Promise<unknown>>>();

function handlerOf(name: string) {
  const handler = handlers.get(name) ?? import(`../../functions/${name}.ts`).then((module) => module.handler);
  handlers.set(name, handler);
  return handler;
}

process.on('message', async ({ id, name, event, remainingMs }: Call) => {
  const end = now() + remainingMs;
  const handler = await handlerOf(name);
  const reply = await handler(event, { getRemainingTimeInMillis: () => end - now() }).catch(console.error);
  const { user, system } = process.cpuUsage();
  const used = { cpuMs: (user + system) / 1000, maxMegabytes: process.resourceUsage().maxRSS / 1024 };
  process.send?.({ id, reply, used });
});

// Before the first call, whose time has begun to run.
const names = String(process.env.HOSTED_FUNCTIONS).split(',');
await Promise.all(names.map(handlerOf));
process.send?.('ready');
