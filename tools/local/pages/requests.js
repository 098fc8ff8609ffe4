import { element, pathElements, pill, show, timeElement, toneOf } from './elements.js';

/** The API's responses, with their callers and reasons. */
export function showRequests({ state }) {
  show('requests', state.requests, ({ at, id }) => `${at} ${id}`, renderRequest);
}

function renderRequest(request) {
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
  const line = element(
    'p',
    { className: 'request' },
    pill(String(status), toneOf(status)),
    element('span', { className: 'path' }, element('b', {}, method), ' ', ...pathElements(path)),
  );
  const notes = [
    `${ms} ms`,
    credits !== undefined && `${credits} ${credits === '1' ? 'credit' : 'credits'}`,
    replayed && 'replayed, nothing was done',
  ].filter(Boolean);
  const about = element(
    'p',
    { className: 'quiet' },
    timeElement(at),
    ', ',
    element('b', {}, caller),
    `, ${notes.join(', ')}, request `,
    element('code', {}, id),
  );
  const answer = message && element('p', {}, element('b', {}, code ?? 'gateway'), `: ${message}`);
  const wrong = details.map((detail) =>
    element('li', {}, element('code', {}, detail.path), ` ${detail.message}`),
  );
  const list = wrong.length > 0 ? element('ul', { className: 'plain' }, ...wrong) : undefined;
  return element('li', {}, line, about, answer || undefined, list);
}
