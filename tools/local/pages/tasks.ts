import { at, element, facts, pill } from '../../../packages/site/pages/elements.ts';
import { show, timeElement } from './lists.ts';
import type { Received } from '../inbox.ts';
import type { ShownNotification } from '../stored-records.ts';
import type { SimulatedTask, Stack } from './stack.ts';

const shownTasks = 8;
const tones: Record<string, 'good' | 'warn' | 'bad'> = {
  ...{ delivered: 'good', success: 'good', COMPLETED: 'good', valid: 'good' },
  ...{ gone: 'bad', failed: 'bad', wrong_signature: 'bad' },
};

interface Timeline extends SimulatedTask {
  operation: string | undefined;
  caller: string | undefined;
  deliveries: ShownNotification[];
  received: Received[];
}

/** Each task once, from its prompt to its film, out of what the provider, the service and the receiver say of it. */
export function showTasks({ state, records: { notified } }: Stack): void {
  at('delivered-directly').hidden = notified !== null;
  at('public-key').textContent = state.publicKey;
  const timelines = (state.simulators?.tasks ?? []).slice(-shownTasks).map((task): Timeline => {
    const sent = notified?.find(({ task_id }) => task_id === task.id);
    const received = state.notifications.filter((each) => each.task === task.id).reverse();
    const deliveries = sent?.notifications ?? [];
    return { ...task, operation: sent?.operation, caller: sent?.caller, deliveries, received };
  });
  show('tasks', timelines.reverse(), ({ id }) => id, renderTimeline);
}

function renderTimeline(timeline: Timeline): HTMLElement {
  const { id, provider, state, credits, prompt, operation, caller, notifications, deliveries, received } =
    timeline;
  const media = received.find((each) => each.media)?.media;
  const states = new Set([...notifications, ...deliveries, ...received].map((each) => String(each.state)));
  return element(
    'li',
    {},
    element('h3', {}, `${prompt || operation || provider} `, pill(state, tones[state] ?? 'warn')),
    facts({
      Task: element('code', {}, id),
      Operation: operation,
      Caller: caller,
      Price: `${credits} ${credits === 1 ? 'credit' : 'credits'}`,
    }),
    element('ol', {}, ...[...states].map((reached) => stateLine(reached, timeline))),
    media !== undefined && madeBy(media),
  );
}

/** Who said that a task has reached a state, and to whom. */
function stateLine(state: string, { notifications, deliveries, received }: Timeline): HTMLElement {
  const isSame = (each: { state?: string | undefined }) => String(each.state) === state;
  const said = notifications.find(isSame);
  return element(
    'li',
    {},
    `${state}: `,
    said && `the provider notifies, and is answered ${said.answer}. `,
    ...deliveries.filter(isSame).flatMap(deliveryParts),
    ...received
      .filter(isSame)
      .flatMap(({ at: time, id, signature = '' }) => [
        'Received at ',
        timeElement(time),
        ...(id === undefined
          ? [' from the provider itself, unsigned.']
          : [', signature ', pill(signature, tones[signature] ?? 'warn')]),
      ]),
  );
}

function deliveryParts(delivery: ShownNotification): (Node | string)[] {
  const { result, attempts, next_attempt_at, last_error, last_status } = delivery;
  const error = [last_error, last_status].filter(Boolean).join(' ');
  const tried = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}${error && `, ${error}`}`;
  const next = next_attempt_at ? [', next at ', timeElement(next_attempt_at)] : [];
  return ['Sent on: ', pill(result, tones[result] ?? 'warn'), ` in ${tried}`, ...next, '. '];
}

/** The picture or film of a task. */
export function madeBy(address: string): HTMLElement {
  if (/\.(webm|mp4)$/.test(address))
    return element('video', { src: address, controls: true, loop: true, ariaLabel: 'The film' });
  return element('img', { src: address, alt: 'The picture' });
}
