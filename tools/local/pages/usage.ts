import { element, facts, pill } from '../../../packages/site/pages/elements.ts';
import { show } from './lists.ts';
import type { CallerUsage } from '../stored-records.ts';
import type { Stack } from './stack.ts';

const labels: Record<string, string> = {
  credits_per_day: 'Credits today',
  tasks_per_day: 'Tasks today',
  requests_per_minute: 'Requests this minute',
};

export function showCallers({ records }: Stack): void {
  show('callers', records.callers, ({ user }) => user, renderCaller);
}

function renderCaller({ user, windows, has_own_limits: hasOwn, blocked }: CallerUsage): HTMLElement {
  const used = windows.map(({ limit, used, max }) => {
    const text = max === undefined ? `${used}, no limit` : `${used} of ${max}`;
    const isUsedUp = max !== undefined && used >= max;
    return [labels[limit] ?? limit, element('span', { className: isUsedUp ? 'warn' : '' }, text)] as const;
  });
  return element(
    'li',
    {},
    element(
      'h3',
      {},
      `${user} `,
      hasOwn && pill('Limits of its own'),
      blocked !== undefined && pill(`Blocked: ${blocked}`, 'bad'),
    ),
    facts(Object.fromEntries(used)),
  );
}
