import { at, button, element, pathElements, toneOf } from './elements.js';
import { call, refresh, stack } from './stack.js';

const shownHeaders = ['x-request-id', 'etag', 'retry-after', 'ratelimit', 'x-credits-used', 'deprecation'];

/** Every operation of the document, with its sample request. */
export async function readOperations() {
  const { paths } = await (await fetch('/openapi.json')).json();
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([verb, operation]) => ({
      id: operation.operationId,
      summary: operation.summary,
      tag: operation.tags[0],
      method: verb.toUpperCase(),
      template: path,
      ...sampleOf(path, operation),
    })),
  );
}

function sampleOf(path, operation) {
  const inPath = operation.parameters.filter(({ in: place }) => place === 'path');
  const values = Object.fromEntries(inPath.map(({ name, example }) => [name, example]));
  const body = { ...operation.requestBody.content['application/json'].examples.sample.value };
  const notified = { Images: 'webhook_url', Videos: 'callback_url' }[operation.tags[0]];
  if (notified) body[notified] = `${location.origin}/callbacks`;
  return { path: path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name])), body };
}

export function renderOperations(operations) {
  for (const operation of operations) {
    const { method, template, tag, summary } = operation;
    const item = element('li', { className: 'call' });
    const send = button('Send', () => sendSample(item, operation));
    send.setAttribute('aria-label', `Send: ${summary}`);
    const link = element('a', { href: `/reference/#tag/${tag.toLowerCase()}/${method}${template}` }, summary);
    const names = element('div', {}, link, element('div', { className: 'path' }, ...pathElements(template)));
    item.append(element('span', { className: 'method' }, method), names, send);
    at('operations').append(item);
  }
}

/** Shows the answer below its call, because on a phone nothing else is visible. */
async function sendSample(item, { method, path, body }) {
  const { status, ms, headers, body: reply } = await call({ method, path, body, user: at('send-as').value });
  const sent = shownHeaders.filter((name) => headers.has(name));
  const lines = sent.map((name) => `${name}: ${headers.get(name)}\n`).join('');
  const answer = element(
    'pre',
    { tabIndex: 0, ariaLabel: `Answer to ${method} ${path}`, role: 'region' },
    `${method} ${path}\n`,
    element('b', { className: toneOf(status) }, `${status}`),
    ` in ${ms} ms\n${lines}\n${JSON.stringify(reply, null, 2)}`,
  );
  item.append(at('answer'));
  at('answer').replaceChildren(answer, ...(reply.signedUrl ? [uploadTo(reply)] : []));
  await refresh();
}

/** The second half of a publish. */
function uploadTo({ signedUrl, node_version: { version } }) {
  const upload = button('Upload a small archive to the signedUrl', async () => {
    const archive = await (await fetch(`/demo.zip?version=${encodeURIComponent(version)}`)).blob();
    const headers = { 'content-type': 'application/zip' };
    const answer = await fetch(signedUrl, { method: 'PUT', headers, body: archive });
    const sentence = answer.ok
      ? ' Uploaded. It appears above as soon as it has been checked.'
      : ` The upload was answered with ${answer.status}.`;
    upload.after(element('span', {}, sentence));
    await refresh();
  });
  return element('p', { className: 'row' }, upload);
}

/** The users of the page's tokens, in every list of users. */
export function renderUsers() {
  const users = Object.keys(stack.state.tokens);
  for (const list of document.querySelectorAll('select.users')) {
    list.prepend(...users.map((user) => element('option', { value: user }, user)));
    list.selectedIndex = 0;
  }
}
