import { element, pill, show, timeElement } from './elements.js';

const tones = { success: 'good', failed: 'bad', COMPLETED: 'good', FAILED: 'bad' };

/** The notifications that reached this page about its own tasks, and whether the service signed them. */
export function showNotifications({ state }) {
  show('notifications', state.notifications, ({ at, id, task }) => `${at} ${id} ${task}`, renderNotification);
}

function renderNotification({ at, id, task, state, signature, media }) {
  const film = media ? [' ', element('a', { href: media }, 'show what was made')] : [];
  const line = element(
    'p',
    {},
    pill(state, tones[state] ?? 'warn'),
    ' task ',
    element('code', {}, task),
    ...film,
  );
  const proof = id === undefined ? 'from the provider itself, unsigned' : `signature: ${signature}`;
  const name = id === undefined ? [] : [', ', element('code', { className: 'path' }, id)];
  return element(
    'li',
    {},
    line,
    element('p', { className: 'quiet' }, timeElement(at), `, ${proof}`, ...name),
  );
}
