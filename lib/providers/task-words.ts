import * as config from '../config.ts';
import type { TaskState } from '../schemas/video.ts';

/** What providers are known to say of a task. An operator adds words with the parameter `providerStates`. */
export const knownWords: Record<TaskState, string> = {
  created: 'created accepted submitted received',
  queueing: 'queueing queuing queued in_queue enqueued pending waiting scheduled throttled',
  processing: 'processing in_progress running started starting preparing generating rendering executing',
  success: 'success succeeded succeed successful completed complete done finished',
  failed:
    'failed fail failure error errored cancelled canceled aborted rejected terminated timeout timed_out expired',
};

const states = config.configured(() => {
  const known = Object.entries(knownWords).flatMap(([state, words]) =>
    words.split(' ').map((word) => ({ word, state })),
  );
  const all = [...known, ...config.taskWords().PROVIDER_STATES];
  return new Map(all.map(({ word, state }) => [lettersOf(word), state as TaskState]));
});

const maxWordLength = 100;

/** A provider's word for the state of a task, which may be a number; undefined if there is none. */
export function readWord(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return undefined;
  const word = value
    .slice(0, 2 * maxWordLength)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return word.slice(0, maxWordLength).toWellFormed() || undefined;
}

/** The state that a provider's word means; undefined for an unknown word. */
export function stateOf(word: string): TaskState | undefined {
  return states().get(lettersOf(word));
}

/** Providers differ in case and separators: IN_PROGRESS, InProgress, in-progress. */
function lettersOf(word: string): string {
  return word.toLowerCase().replace(/[\s_-]+/g, '');
}
