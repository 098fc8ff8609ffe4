import { AsyncLocalStorage } from 'node:async_hooks';

const openWrites = new AsyncLocalStorage<Map<symbol, string>>();
let watching: Promise<void> | undefined;

/** Lambda freezes a function once it has ended, so a write that was not awaited may never be sent. */
export async function requireNoOpenWrites<Answer>(
  limitMs: number,
  work: () => Promise<Answer>,
): Promise<Answer> {
  watching ??= watch();
  await watching;
  const open = new Map<symbol, string>();
  const began = Date.now();
  const [ending] = await Promise.allSettled([openWrites.run(open, work)]);
  // A store that hangs may outlast the invocation.
  if (open.size > 0 && Date.now() - began < limitMs)
    throw new Error(`The function ended before these calls: ${[...open.values()].join(', ')}`);
  if (ending.status === 'rejected') throw ending.reason;
  return ending.value;
}

async function watch(): Promise<void> {
  // The client reads the environment when it is loaded.
  const { dynamodb } = await import('../../lib/store/dynamodb.ts');
  dynamodb.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        const open = /^(Put|Update|Delete|Transact)/.test(commandName) ? openWrites.getStore() : undefined;
        const call = Symbol(commandName);
        open?.set(call, commandName);
        return next(args).finally(() => open?.delete(call));
      },
    { step: 'initialize', priority: 'high' },
  );
}
