import { type OrderStore, type RegistryClient, RegistryError } from '@node-registry/registry-client';
import { useEffect, useState } from 'preact/hooks';
import type { Fields, Operation, PaidCall } from './operations.ts';

/** A purchase of this browser. */
export interface Task {
  /** Its name, by which it is paid once. */
  order: string;
  operation: string;
  title: string;
  at: number;
  state: string;
  credits?: number | undefined;
  /** How much of its pictures is uploaded, from 0 to 1. */
  uploaded?: number;
  media?: string[];
  creations?: { id: string; url: string }[];
  error?: string;
  /** Whether the task may have started although its call failed. */
  mayBeDone?: boolean;
  /** The request, unless it has bytes, which only its page has. */
  body?: Fields | undefined;
}

const maxTasks = 40;

/** Orders outlive the page, so that a reload neither loses a film nor pays for it twice. */
export const orders: OrderStore = {
  read: (order) => JSON.parse(localStorage.getItem(`order ${order}`) ?? 'null'),
  write: (record) => localStorage.setItem(`order ${record.order}`, JSON.stringify(record)),
};

/** The tasks of this browser, the newest first, with the function that starts one. */
export function useTasks(registry: RegistryClient) {
  const [tasks, setTasks] = useState<Task[]>(() => JSON.parse(localStorage.getItem('tasks') ?? '[]'));
  useEffect(() => localStorage.setItem('tasks', JSON.stringify(tasks)), [tasks]);
  const change = (order: string, fields: Partial<Task>) =>
    setTasks((all) => all.map((task) => (task.order === order ? { ...task, ...fields } : task)));

  const follow = async (order: string, work: (hear: Listeners) => ReturnType<PaidCall>) => {
    const hear: Listeners = {
      onState: async ({ state }) => change(order, { state, credits: (await orders.read(order))?.credits }),
      onUpload: ({ sent, total }) => change(order, { state: 'uploading', uploaded: sent / total }),
    };
    try {
      const { media, creations } = await work(hear);
      const { credits } = (await orders.read(order)) ?? {};
      change(order, { state: 'success', media, creations, credits });
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      const { code, message, mayBeDone } = error;
      const { credits } = (await orders.read(order)) ?? {};
      change(order, { state: 'failed', error: `${code}: ${message}`, mayBeDone, credits });
    }
  };

  /** Buys a task, or goes on with one: with one order, it is paid once. */
  const send = (order: string, call: PaidCall, body: Fields) =>
    follow(order, (hear) => call(body as never, { order, wait: true, ...hear }));

  const start = (operation: Operation, call: PaidCall, body: Fields) => {
    const order = crypto.randomUUID();
    const task: Task = {
      order,
      operation: operation.name,
      at: Date.now(),
      state: 'sending',
      title: titleOf(body),
      body: hasBytes(body) ? undefined : body,
    };
    setTasks((all) => [task, ...all].slice(0, maxTasks));
    void send(order, call, body);
  };

  /** After a reload, or an error that leaves the outcome open. */
  const resume = async ({ order, body }: Task, call: PaidCall) => {
    change(order, { state: 'processing', error: '' });
    const { statusUrl } = (await orders.read(order)) ?? {};
    if (statusUrl !== undefined)
      await follow(order, (hear) => registry.tasks.wait(statusUrl, hear) as ReturnType<PaidCall>);
    else if (body) await send(order, call, body);
    else change(order, { state: 'failed', error: 'The page was closed before its picture was sent.' });
  };
  return { tasks, start, resume };
}

interface Listeners {
  onState: (progress: { state: string }) => void;
  onUpload: (progress: { sent: number; total: number }) => void;
}

function hasBytes(value: unknown): boolean {
  return value instanceof Blob || (typeof value === 'object' && Object.values(value ?? {}).some(hasBytes));
}

function titleOf({ prompt, image_settings }: Fields): string {
  const [frame] = Array.isArray(image_settings) ? image_settings : [];
  return String(prompt ?? frame?.prompt ?? 'Without words');
}
