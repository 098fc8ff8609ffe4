import type { components } from './openapi.ts';
import { isAbsent, parsed } from './read-answer.ts';
import { type ErrorCode, RegistryError } from './registry-error.ts';
import { supported } from './request.ts';
import { textAt } from './send.ts';
import { type Fetch, milliseconds, requireAddress } from './settings.ts';
import { pause } from './within.ts';

type TaskStatus = components['schemas']['TaskStatus'];

export interface TaskProgress {
  state: TaskStatus['state'];
  taskId: string | undefined;
  /** The task's status URL: keep it, to wait again after a reload. It needs no token, so it is a secret. */
  statusUrl: string;
}

export interface FinishedTask {
  taskId: string | undefined;
  /** The URLs of the results. */
  media: string[];
  /** The films, as their provider names them: \`id\` is the \`video_creation_id\` of an extension. */
  creations: Creation[];
  statusUrl: string;
}

export interface Creation {
  id: string;
  url: string;
  cover_url: string;
}

export interface WaitOptions {
  signal?: AbortSignal | undefined;
  /** Receives each state once. */
  onState?: ((progress: TaskProgress) => void) | undefined;
  /** How long to wait for the end of the task; an hour by default. */
  waitMs?: number | undefined;
  fetch?: Fetch | undefined;
}

const standardWaitMs = 3_600_000;
const firstPauseMs = 1000;
const maxPauseMs = 10_000;
const growth = 1.3;
/** Some providers name the results only after the success. */
const lateMediaMs = 60_000;
/** A provider reports a new task within seconds. */
const doubtfulMs = 300_000;
const timeoutMs = 10_000;
const maxBytes = 1_000_000;

export function requireWait(waitMs = standardWaitMs): number {
  return milliseconds('waitMs', waitMs);
}

/** The facts about a task from the call that started it. */
export interface StartedTask {
  taskId: string | undefined;
  idempotencyKey: string | undefined;
  /** Why it may not have started. Without a word about the task, this is soon thrown. */
  doubt: RegistryError | undefined;
}

/**
 * Waits until a task has ended: returns its media, or throws the RegistryError `task_failed` with the
 * provider's reason. `started` has the known facts of a task whose URL comes from the response that started
 * it.
 */
export async function waitForTask(
  statusUrl: string,
  options: WaitOptions = {},
  started?: StartedTask,
): Promise<FinishedTask> {
  const { signal, onState, fetch: request = fetch } = options;
  const waitMs = requireWait(options.waitMs);
  requireAddress('statusUrl', statusUrl);
  const begin = Date.now();
  const end = begin + waitMs;
  let known: TaskStatus | undefined;
  let mediaUntil: number | undefined;
  const failure = (code: ErrorCode, sentence: string) => {
    const taskId = known?.task_id ?? started?.taskId;
    const retry = () => waitForTask(statusUrl, options, started);
    return new RegistryError(code, sentence, {
      statusUrl,
      taskId,
      retry,
      idempotencyKey: started?.idempotencyKey,
      mayBeDone: code !== 'task_failed',
    });
  };
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * growth)) {
    const answer = await readStatus(statusUrl, request, signal);
    if (answer === 'something else')
      throw failure('no_status', 'What is at the status URL is not the status of a task.');
    if (typeof answer === 'object') {
      if (answer.state !== known?.state)
        onState?.({ state: answer.state, taskId: answer.task_id, statusUrl });
      known = answer;
    }
    if (known?.state === 'success') {
      mediaUntil ??= Math.min(end, Date.now() + lateMediaMs);
      if (known.media.length > 0 || Date.now() >= mediaUntil)
        return { taskId: known.task_id, media: known.media, creations: creationsOf(known), statusUrl };
    }
    if (known?.state === 'failed')
      throw failure('task_failed', known.error ?? 'The provider could not finish the task.');
    const leftMs = end - Date.now();
    if (started?.doubt && !known && (leftMs <= 0 || Date.now() - begin >= doubtfulMs)) throw started.doubt;
    if (leftMs <= 0) {
      if (answer === 'missing' && !known && !started) throw failure('no_status', nothingIn(waitMs));
      throw failure('still_running', `The task has not ended within ${waitMs} ms.`);
    }
    await pause(Math.min(leftMs, pauseMs * (0.8 + Math.random() / 5)), signal);
  }
}

function nothingIn(waitMs: number): string {
  return `Nothing has appeared at the status URL within ${waitMs} ms: the provider is slow, or the URL wrong or older than seven days.`;
}

/** Missing until the task has a status; undefined if the response is lost. Both are requested again. */
async function readStatus(
  url: string,
  request: Fetch,
  signal: AbortSignal | undefined,
): Promise<TaskStatus | 'missing' | 'something else' | undefined> {
  // Sends no token: the URL is the only secret.
  const init = { ...supported({ cache: 'no-store', credentials: 'omit' }), signal };
  const { response, text = '' } = await textAt({ timeoutMs, fetch: request }, url, init, maxBytes);
  if (response && isAbsent(response, text)) return 'missing';
  if (!response?.ok) return undefined;
  const content = parsed(text);
  return isStatus(content) ? content : 'something else';
}

function creationsOf(task: object): Creation[] {
  const { creations } = task as { creations?: Partial<Creation>[] };
  if (!Array.isArray(creations)) return [];
  return creations.map(({ id = '', url = '', cover_url = '' }) => ({ id, url, cover_url }));
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
