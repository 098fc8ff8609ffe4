import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

/** A prompt's instructions for the simulated task that it starts. */
export interface TaskWishes {
  isFailing: boolean;
  isSilent: boolean;
  isTwice: boolean;
  isReversed: boolean;
  hasUnknownWords: boolean;
}

export interface Task {
  id: string;
  provider: string;
  credits: number;
  state: string;
  /** The data that the request passes through. */
  payload: unknown;
  /** The URL of its result after a success, without its file extension. */
  mediaUrl: string;
  /** Every status update that was sent, with the receiver's response. */
  notifications: { state: string; answer: number | string }[];
}

interface NewTask {
  provider: string;
  credits: number;
  payload: unknown;
  /** The states that the task moves through, one a tick. */
  states: readonly string[];
  notifyUrl: unknown;
  notification: (task: Task) => object;
  wishes: TaskWishes;
}

/** A busy machine takes seconds to load the notified function. */
const notifyTimeoutMs = 30_000;
const maxTasks = 1000;

/** Tasks that change their state once a tick and send a notification for each, until the signal stops. */
export class Tasks {
  readonly list: Task[] = [];
  /** The URL of the simulators. */
  baseUrl = '';
  readonly #tickMs: number;
  readonly #stopped: AbortSignal;
  readonly #runs = new WeakMap<Task, Promise<void>>();
  #forgotten = 0;

  constructor(tickMs: number, stopped: AbortSignal) {
    this.#tickMs = tickMs;
    this.#stopped = stopped;
  }

  /** Ends every task without another notification. */
  forget(): void {
    this.list.length = 0;
    this.#forgotten += 1;
  }

  start(settings: NewTask): Task {
    const { provider, credits, states, payload } = settings;
    const id = provider === 'video' ? `${randomInt(1e14, 2e14)}${randomInt(100, 1000)}` : randomUUID();
    const mediaUrl = `${this.baseUrl}/media/${id}`;
    const task = { id, provider, credits, state: states[0] ?? '', payload, mediaUrl, notifications: [] };
    this.list.push(task);
    if (this.list.length > maxTasks) this.list.shift();
    this.#runs.set(task, this.#run(task, settings));
    return task;
  }

  /** Resolves after the last notification of a task. */
  async ended(id: string | undefined): Promise<void> {
    const task = this.list.find((each) => each.id === id);
    if (task) await this.#runs.get(task);
  }

  async #run(task: Task, { states, notifyUrl, notification, wishes }: NewTask): Promise<void> {
    const startedAfter = this.#forgotten;
    const isNotified = isLoopback(notifyUrl) && !wishes.isSilent;
    const held: { state: string; content: object }[] = [];
    for (const [place, state] of states.slice(1).entries()) {
      await pause(this.#tickMs, undefined, { ref: false, signal: this.#stopped }).catch(() => {});
      if (this.#stopped.aborted || this.#forgotten > startedAfter) return;
      task.state = state;
      held.unshift({ state, content: notification(task) });
      if (!isNotified || (wishes.isReversed && place < states.length - 2)) continue;
      for (const { state, content } of held.splice(0)) {
        for (let times = wishes.isTwice ? 2 : 1; times > 0; times -= 1)
          task.notifications.push({ state, answer: await notify(notifyUrl, content, this.#stopped) });
      }
    }
  }
}

/** Simulators call only programs on this machine, whatever URL a request names. */
function isLoopback(url: unknown): url is string {
  const hostname = typeof url === 'string' ? URL.parse(url)?.hostname : undefined;
  return hostname !== undefined && ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

async function notify(url: string, content: object, stopped: AbortSignal): Promise<number | string> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(content),
      redirect: 'manual',
      signal: AbortSignal.any([stopped, AbortSignal.timeout(notifyTimeoutMs)]),
    });
    await answer.body?.cancel();
    return answer.status;
  } catch (error) {
    return String(error);
  }
}
