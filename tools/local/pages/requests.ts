import { element, pill } from '../../../packages/site/pages/elements.ts';
import { show, timeElement, toneOf } from './lists.ts';
import type { LoggedRequest } from '../request-log.ts';
import type { Stack } from './stack.ts';

/** The API's responses, with their callers and reasons. */
export function showRequests({ state }: Stack): void {
  show('requests', state.requests, ({ at, id }) => `${at} ${id}`, renderRequest);
}

function renderRequest(request: LoggedRequest): HTMLElement {
  const {
    at,
    id,
    method,
    path,
    caller,
    status,
    ms,
    code,
    message,
    details = [],
    credits,
    replayed,
  } = request;
  const notes = [
    `${ms} ms`,
    ...(credits === undefined ? [] : [`${credits} ${credits === '1' ? 'credit' : 'credits'}`]),
    ...(replayed ? ['replayed, nothing was done'] : []),
  ];
  const about = element('b', {}, caller);
  const wrong = details.map((detail) =>
    element('li', {}, element('code', {}, detail.path), ` ${detail.message}`),
  );
  return element(
    'li',
    {},
    element('p', {}, pill(String(status), toneOf(status)), element('b', {}, method), ` ${path}`),
    element(
      'p',
      { className: 'quiet' },
      timeElement(at),
      ', ',
      about,
      `, ${notes.join(', ')}, request `,
      element('code', {}, id),
    ),
    message !== undefined && element('p', {}, element('b', {}, code ?? 'gateway'), `: ${message}`),
    wrong.length > 0 && element('ul', {}, ...wrong),
  );
}
