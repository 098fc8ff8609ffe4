import { at, element } from '../../../packages/site/pages/elements.ts';
import { button, guard, show } from './lists.ts';
import type { Misbehavior } from '../../simulators/misbehaviors.ts';
import { post, type Stack } from './stack.ts';

const misbehaviors: Record<string, object> = {
  'Busy (429)': { kind: 'status', status: 429, retryAfter: 60 },
  'Fails (500)': { kind: 'status', status: 500 },
  'Rejects (400)': { kind: 'status', status: 400, message: 'The image shows nothing' },
  'Slow (3 s)': { kind: 'delay', ms: 3000 },
  'Silent (25 s)': { kind: 'stall' },
  'Hangs up': { kind: 'reset' },
  'Cut off': { kind: 'truncated' },
  'Sends HTML': { kind: 'html' },
};
const names: Record<string, string> = { image: 'Image provider', video: 'Video provider' };

export function startSwitches(): void {
  for (const [provider, name] of Object.entries(names)) {
    const buttons = Object.entries(misbehaviors).map(([label, misbehavior]) =>
      button(label, () => post('/simulators/misbehave', { provider, ...misbehavior })),
    );
    const row = element('div', { className: 'row' }, ...buttons);
    at('switches').append(element('fieldset', {}, element('legend', {}, name), row));
  }
  for (const control of document.querySelectorAll<HTMLButtonElement>('[data-command]')) {
    const { command, body = '' } = control.dataset;
    control.onclick = () => guard(control, () => post(`/simulators/${command}`, JSON.parse(body)));
  }
}

export function showArmed({ state }: Stack): void {
  const { credits, armed = [] } = state.simulators ?? {};
  at('credits').textContent = credits?.toLocaleString('en-US') ?? 'unknown';
  const sentences = armed.map(sentenceOf);
  if (credits === 0) sentences.push('Both providers: out of credits until they are filled up');
  const shown = sentences.length > 0 ? sentences : ['Nothing: both providers work as they should.'];
  show('armed', shown, String, (sentence) => element('li', {}, sentence));
}

/** A misbehavior under the name of its button, or as curl set it. */
function sentenceOf({ provider, times = 1, kind, status }: Misbehavior): string {
  const calls = times === 1 ? 'the next call' : `the next ${times} calls`;
  const isSame = ([, each]: [string, Partial<Misbehavior>]) => each.kind === kind && each.status === status;
  const [label = `${kind} ${status ?? ''}`] = Object.entries(misbehaviors).find(isSame) ?? [];
  return `${names[provider ?? ''] ?? 'Either provider'}, ${calls}: ${label}`;
}
