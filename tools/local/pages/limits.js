import { at, element, facts, guard, pill, show, toneOf } from './elements.js';
import { call, post, refresh, stack } from './stack.js';

const labels = {
  credits_per_day: 'Credits today',
  tasks_per_day: 'Tasks today',
  requests_per_minute: 'Requests this minute',
};

/** Who has spent how much of what. */
export function showCallers({ records }) {
  show('callers', records.callers, ({ user }) => user, renderCaller);
}

function renderCaller({ user, windows, has_own_limits: hasOwn, blocked }) {
  const used = windows.map(({ limit, used, max }) => {
    const text = max === undefined ? `${used}, no limit` : `${used} of ${max}`;
    const tone = max !== undefined && used >= max ? 'warn' : '';
    return [labels[limit], element('span', { className: tone }, text)];
  });
  const marks = [
    ...(hasOwn ? [' ', pill('Limits of its own', 'quiet')] : []),
    ...(blocked === undefined ? [] : [' ', pill(`Blocked: ${blocked}`, 'bad')]),
  ];
  return element('li', {}, element('h3', {}, user, ...marks), facts(Object.fromEntries(used)));
}

/** A limit to set, and the paid request that meets it. */
export function startLimits(relight) {
  const form = at('limit-form');
  at('limit-user').addEventListener('change', fillIn);
  fillIn();
  const limits = (read) =>
    Object.fromEntries(Object.keys(labels).map((name) => [name, read(form.elements[name].value)]));
  const set = (read, sentence) => async () => {
    await post('/limits', { user: at('limit-user').value, limits: limits(read) });
    at('limit-answer').replaceChildren(sentence);
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const work = set((value) => (value === '' ? null : Number(value)), 'The limits are set.');
    guard(at('limit-set'), work);
  });
  at('limit-clear').addEventListener('click', () => {
    for (const name of Object.keys(labels)) form.elements[name].value = '';
    guard(
      at('limit-clear'),
      set(() => null, 'There is no limit any more.'),
    );
  });
  at('limit-send').addEventListener('click', () => guard(at('limit-send'), () => sendPaid(relight)));
}

/** The chosen caller's limits, so that setting one keeps the others. */
function fillIn() {
  const caller = stack.records.callers.find(({ user }) => user === at('limit-user').value);
  for (const name of Object.keys(labels)) {
    const max = caller?.windows.find(({ limit }) => limit === name)?.max;
    at('limit-form').elements[name].value = max ?? '';
  }
}

async function sendPaid(relight) {
  const user = at('limit-user').value;
  const { status, headers, body } = await call({ ...relight, user });
  const wait = headers.get('retry-after');
  const isRefused = status >= 400;
  const until = wait && new Date(Date.now() + wait * 1000).toLocaleTimeString('en-GB');
  at('limit-answer').replaceChildren(
    element('p', {}, pill(String(status), toneOf(status)), ` ${isRefused ? body.error : body.data.task_id}`),
    ...(isRefused ? [element('p', {}, body.message)] : []),
    facts({
      'Retry-After': wait ? `${wait} s: works again at ${until}` : undefined,
      'X-Credits-Used': headers.get('x-credits-used') ?? undefined,
      'RateLimit-Policy': headers.get('ratelimit-policy') ?? undefined,
      RateLimit: headers.get('ratelimit') ?? undefined,
    }),
  );
  await refresh();
}
