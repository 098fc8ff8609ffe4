import type { components } from './openapi.ts';
import { RegistryError } from './registry-error.ts';
import { textAt } from './send.ts';
import { type Fetch, milliseconds } from './settings.ts';
import { pause } from './within.ts';

type TaskStatus = components['schemas']['TaskStatus'];

/** How a task stands. */
export interface TaskProgress {
  state: TaskStatus['state'];
  taskId: string | undefined;
  /** Where the task's status is shown: keep it, to go on waiting after a reload. It needs no token, so it is a secret. */
  statusUrl: string;
}

export interface FinishedTask {
  taskId: string | undefined;
  /** The URLs of what was made. */
  media: string[];
  statusUrl: string;
}

export interface WaitOptions {
  signal?: AbortSignal | undefined;
  /** Hears each state once. */
  onState?: ((progress: TaskProgress) => void) | undefined;
  /** How long to wait for the end of the task; an hour by default. */
  waitMs?: number | undefined;
  fetch?: Fetch | undefined;
}

const standardWaitMs = 3_600_000;
/** Most providers report a task within seconds. A wait for a slower one can begin again. */
const maxMissingMs = 600_000;
const firstPauseMs = 1000;
const maxPauseMs = 10_000;
const growth = 1.3;
const timeoutMs = 10_000;
const maxBytes = 1_000_000;

/** Waits until a task has ended: for its media, or for the RegistryError `task_failed` with the provider's reason. */
export async function waitForTask(
  statusUrl: string,
  { signal, onState, waitMs = standardWaitMs, fetch: request = fetch }: WaitOptions = {},
): Promise<FinishedTask> {
  const end = Date.now() + milliseconds('waitMs', waitMs);
  const missingEnd = Date.now() + maxMissingMs;
  let known: string | undefined;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * growth)) {
    const answer = await readStatus(statusUrl, request, signal);
    if (answer === 'missing' && known === undefined && Date.now() > missingEnd)
      throw noStatus(`Nothing has appeared at ${statusUrl} for ten minutes: the provider is slow, or`);
    const status = answer === 'missing' ? undefined : answer;
    if (status !== undefined && status.state !== known) {
      known = status.state;
      onState?.({ state: status.state, taskId: status.task_id, statusUrl });
    }
    if (status?.state === 'success') return { taskId: status.task_id, media: status.media, statusUrl };
    if (status?.state === 'failed')
      throw new RegistryError('task_failed', status.error ?? 'The provider could not finish the task.');
    if (Date.now() + pauseMs > end)
      throw new RegistryError('still_running', `The task has not ended within ${waitMs} ms: ${statusUrl}`);
    await pause(pauseMs * (0.8 + Math.random() / 5), signal);
  }
}

function noStatus(sentence: string): RegistryError {
  return new RegistryError('no_status', `${sentence} the address is wrong, or older than seven days.`);
}

/** Missing until the provider has said something; undefined if the answer is lost. Both are asked for again. */
async function readStatus(
  url: string,
  request: Fetch,
  signal: AbortSignal | undefined,
): Promise<TaskStatus | 'missing' | undefined> {
  // No token goes along: the address is the only secret.
  const init = { cache: 'no-store', credentials: 'omit' } as const;
  const { response, text } = await textAt({ timeoutMs, fetch: request }, url, { init, signal, maxBytes });
  if (response?.status === 404) return 'missing';
  if (response?.status === 403) throw noStatus(`${url} was answered 403:`);
  if (!response?.ok) return undefined;
  const content = parsed(text);
  if (!isStatus(content)) throw noStatus(`${url} does not show a task's status:`);
  return content;
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

function isStatus(content: unknown): content is TaskStatus {
  return (
    typeof content === 'object' &&
    content !== null &&
    'state' in content &&
    typeof content.state === 'string' &&
    'media' in content &&
    Array.isArray(content.media)
  );
}
