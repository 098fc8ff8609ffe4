import { at, element, facts, pill, show, timeElement } from './elements.js';

const tones = { delivered: 'good', success: 'good', pending: 'warn', gone: 'bad', failed: 'bad' };

/** The newest tasks with their notifications; null where the providers notify callers, undefined until that is known. */
export function showDeliveries({ records: { notified } }) {
  at('delivered-directly').hidden = notified !== null;
  for (const id of ['delivered-here', 'deliveries']) at(id).hidden = !notified;
  show('deliveries', notified ?? [], ({ at: since, task_id: id }) => `${since} ${id}`, renderTask);
}

function renderTask({ at: since, task_id: id, state, operation, caller, address, notifications }) {
  return element(
    'li',
    {},
    element('h3', {}, `${id} `, pill(state, tones[state] ?? 'warn')),
    facts({ Operation: operation, Caller: caller, Sent: timeElement(since), Receiver: address }),
    element('ul', { className: 'plain' }, ...notifications.map(renderNotification)),
  );
}

function renderNotification(notification) {
  const { id, state, result, attempts, last_error: error, last_status: status } = notification;
  const { delivered_at: delivered, next_attempt_at: next } = notification;
  return element(
    'li',
    {},
    element('p', {}, pill(result, tones[result]), ` ${state}`),
    facts({
      Attempts: String(attempts),
      Delivered: delivered && timeElement(delivered),
      'Next attempt': next && timeElement(next),
      'Last error': error && [error, status].filter(Boolean).join(' '),
      'webhook-id': element('code', {}, id),
    }),
  );
}
