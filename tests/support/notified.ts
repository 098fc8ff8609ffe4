import { notificationsOf, pathOf, storedTask } from './relay.ts';
import { type ProxyName, simulation } from './proxies.ts';
import { handler } from '../../functions/receive-notification.ts';
import { type Changes, invoke, type Result } from './invoke.ts';
import { lines } from './logged-lines.ts';
import './queue.ts';
import { pay, spender } from './spending.ts';

/** Where a provider notifies the service of one task. */
export interface Path {
  provider: string;
  task: string;
}

export const hook = 'https://caller.example.com/hook';

/** Starts a task whose caller wants notifications, and returns the URL for the provider. */
export async function started(name: ProxyName = 'text-to-video', user?: string): Promise<Path> {
  const field = name === 'relight-image' ? 'webhook_url' : 'callback_url';
  await pay(user ?? (await spender()), name, { body: { [field]: hook } });
  return pathOf(simulation.received.at(-1)?.body[field]);
}

export function say(path: Path, body: object, changes: Changes = {}): Promise<Result> {
  return invoke(handler, 'receive-notification', { path: { ...path }, body, ...changes });
}

/** Everything that is stored of a task. */
export async function everythingOf({ task: secret }: Path) {
  return { task: await storedTask(secret), notifications: await notificationsOf(secret) };
}

export function lastLine(): Record<string, unknown> {
  return lines().at(-1);
}
