import { at, button, element, facts, guard, pill, show } from './elements.js';
import { post } from './stack.js';

const disturbances = {
  'Busy (429)': { kind: 'status', status: 429, retryAfter: 60 },
  'Fails (500)': { kind: 'status', status: 500 },
  'Refuses (400)': { kind: 'status', status: 400, message: 'The image shows nothing' },
  'Slow (3 s)': { kind: 'delay', ms: 3000 },
  'Silent (25 s)': { kind: 'stall' },
  'Hangs up': { kind: 'reset' },
  'Cut off': { kind: 'truncated' },
  'Sends HTML': { kind: 'html' },
};
const names = { image: 'Image provider', video: 'Video provider' };
const shownTasks = 8;

export function renderSwitches() {
  for (const [provider, name] of Object.entries(names)) {
    const buttons = Object.entries(disturbances).map(([label, disturbance]) =>
      button(label, () => post('/simulators/misbehave', { provider, ...disturbance })),
    );
    const row = element('div', { className: 'row' }, ...buttons);
    at('switches').append(element('fieldset', {}, element('legend', {}, name), row));
  }
  for (const control of document.querySelectorAll('[data-command]')) {
    const { command, body } = control.dataset;
    control.addEventListener('click', () =>
      guard(control, () => post(`/simulators/${command}`, JSON.parse(body))),
    );
  }
}

export function showSimulators({ state }) {
  const { credits, armed = [], tasks = [] } = state.simulators ?? {};
  at('credits').textContent = credits?.toLocaleString('en-US') ?? 'unknown';
  show('armed', comingFrom(armed, credits), (sentence) => sentence, renderComing);
  show('tasks', tasks.slice(-shownTasks).reverse(), ({ id }) => id, renderTask);
}

function comingFrom(armed, credits) {
  const sentences = armed.map(({ provider, times = 1, ...disturbance }) => {
    const calls = times === 1 ? 'the next call' : `the next ${times} calls`;
    return `${names[provider] ?? 'Either provider'}, ${calls}: ${labelOf(disturbance)}`;
  });
  if (credits === 0) sentences.push('Both providers: out of credits until they are filled up');
  return sentences.length > 0 ? sentences : ['Nothing: both providers work as they should.'];
}

function renderComing(sentence) {
  return element('li', {}, sentence);
}

/** By the switch that sets it, or as curl set it. */
function labelOf({ kind, status }) {
  const isSame = ([, each]) => each.kind === kind && each.status === status;
  const [label = `${kind} ${status ?? ''}`] = Object.entries(disturbances).find(isSame) ?? [];
  return label;
}

function renderTask({ id, provider, state, notifications }) {
  const tone = { success: 'good', COMPLETED: 'good' }[state] ?? 'warn';
  const sent = notifications.map(({ state: reached, answer }) => `${reached} → ${answer}`).join(', ');
  return element(
    'li',
    {},
    element('p', { className: 'request' }, pill(state, tone), element('code', {}, id)),
    facts({ Provider: provider, Callbacks: sent }),
  );
}
