import { isObject } from '../../lib/json.ts';
import type { Misbehavior } from './misbehaviors.ts';
import type { TaskWishes } from './tasks.ts';
import type { Fields } from './wire-format.ts';

/** The misbehavior for each word in a prompt. */
const exchanges: Record<string, Misbehavior> = {
  '[reject]': { kind: 'status', status: 400, reason: 'Rejected', message: 'The prompt asks for it' },
  '[busy]': { kind: 'status', status: 429, reason: 'Busy', message: 'The prompt asks for it' },
  '[lose answer]': { kind: 'reset' },
  '[no answer]': { kind: 'stall' },
  '[late answer]': { kind: 'delay' },
};

export const promptWordsHelp = `Words in a prompt make a simulated provider go wrong. They can be combined.

  [reject]         answers 400, and charges nothing
  [busy]           answers 429, and charges nothing
  [lose answer]    starts the task, and closes the connection
  [no answer]      starts the task, and never answers the request
  [late answer]    answers after the task's last notification
  [fail]           the task fails
  [silent]         never notifies
  [twice]          sends each notification twice
  [out of order]   sends the last notification first
  [unknown words]  reports states that are not documented
`;

/** The prompts of a request, including those of its frames. */
export function promptOf({ prompt, image_settings }: Fields): string {
  const frames = Array.isArray(image_settings) ? image_settings : [];
  return [prompt, ...frames.map((frame) => isObject(frame) && frame.prompt)].join(' ');
}

export function exchangeOf(prompt: string): Misbehavior | undefined {
  return Object.entries(exchanges).find(([word]) => prompt.includes(word))?.[1];
}

export function wishesOf(prompt: string): TaskWishes {
  return {
    isFailing: prompt.includes('[fail]'),
    isSilent: prompt.includes('[silent]'),
    isTwice: prompt.includes('[twice]'),
    isReversed: prompt.includes('[out of order]'),
    hasUnknownWords: prompt.includes('[unknown words]'),
  };
}
