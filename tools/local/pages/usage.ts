import { at, element, facts, pill } from '../../../packages/site/pages/elements.ts';
import { guard, show, toneOf } from './lists.ts';
import type { Operation } from './operations.ts';
import type { CallerUsage } from '../stored-records.ts';
import { call, post, refresh, type Stack, stack } from './stack.ts';

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

const field = (name: string) => at<HTMLInputElement>(name);
const user = () => at<HTMLSelectElement>('limit-user').value;

/** Limits to set, and the paid request that meets them. */
export function startLimits(relight: Operation): void {
  at('limit-user').addEventListener('change', fillIn);
  fillIn();
  const press = (id: string, work: () => Promise<void>) => guard(at<HTMLButtonElement>(id), work);
  at('limit-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void press('limit-set', () => setLimits('The limits are set.'));
  });
  at('limit-clear').onclick = () => {
    for (const name of Object.keys(labels)) field(name).value = '';
    return press('limit-clear', () => setLimits('There is no limit any more.'));
  };
  at('limit-send').onclick = () => press('limit-send', () => sendPaid(relight));
}

async function setLimits(sentence: string): Promise<void> {
  const limits = Object.keys(labels).map((name) => [
    name,
    field(name).value === '' ? null : Number(field(name).value),
  ]);
  await post('/limits', { user: user(), limits: Object.fromEntries(limits) });
  at('limit-answer').replaceChildren(sentence);
}

/** The chosen caller's limits, so that setting one keeps the others. */
function fillIn(): void {
  const caller = stack?.records.callers.find((each) => each.user === user());
  for (const name of Object.keys(labels))
    field(name).value = String(caller?.windows.find(({ limit }) => limit === name)?.max ?? '');
}

async function sendPaid(relight: Operation): Promise<void> {
  const { status, headers, body } = await call(relight.sample(), user());
  const wait = headers.get('retry-after');
  const until = wait && new Date(Date.now() + Number(wait) * 1000).toLocaleTimeString('en-GB');
  const sentence = status < 400 ? 'The task has started.' : `${body.error}: ${body.message}`;
  at('limit-answer').replaceChildren(
    element('p', {}, pill(String(status), toneOf(status)), ` ${sentence}`),
    facts({
      'Retry-After': wait ? `${wait} s: works again at ${until}` : undefined,
      'X-Credits-Used': headers.get('x-credits-used') ?? undefined,
      'RateLimit-Policy': headers.get('ratelimit-policy') ?? undefined,
      RateLimit: headers.get('ratelimit') ?? undefined,
    }),
  );
  await refresh();
}
