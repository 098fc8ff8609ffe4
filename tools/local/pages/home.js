const everyMs = 2000;
const demoVersions = ['1.0.0', '1.1.0', '1.2.0', '2.0.0'];

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

const at = (id) => document.getElementById(id);
const shown = new Map();
let state = { parts: [], requests: [] };

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Renders only what has changed, so that a link that has the focus keeps it. */
function show(id, items, render) {
  const text = JSON.stringify(items);
  if (shown.get(id) === text) return;
  shown.set(id, text);
  at(id).replaceChildren(...items.map(render));
}

function row(...cells) {
  return element('tr', {}, ...cells.map((cell) => element('td', {}, cell)));
}

function toneOf(status) {
  if (status < 400) return 'good';
  return status < 500 ? 'warn' : 'bad';
}

function renderState() {
  show('running', state.parts, ({ name, url, isUp }) =>
    element(
      'li',
      {},
      element('span', { className: isUp ? 'good' : 'bad' }, isUp ? '● up' : '○ down'),
      name,
      element('a', { href: url }, url),
    ),
  );
  show('requests', state.requests, ({ at: time, route, status, code, ms }) =>
    row(
      new Date(time).toLocaleTimeString('en-GB'),
      route,
      element('span', { className: toneOf(status) }, String(status)),
      code ?? '',
      `${ms} ms`,
    ),
  );
  const { credits = '–', tasks = [] } = state.simulators ?? {};
  at('credits').textContent = credits.toLocaleString('en-GB');
  show('tasks', tasks.slice(-10).reverse(), ({ id, provider, state: reached, notifications }) => {
    const callbacks = notifications.map((sent) => element('div', {}, `${sent.state} → ${sent.answer}`));
    return row(id, provider, reached, element('div', {}, ...callbacks));
  });
}

async function poll() {
  const answer = await fetch('/state').catch(() => undefined);
  if (answer?.ok) state = await answer.json();
  at('trouble').hidden = answer?.ok === true;
  at('trouble').textContent = answer?.ok ? '' : 'The local stack does not answer. Start it with: npm start';
  renderState();
}

async function call(method, path, body, headers = {}) {
  const started = performance.now();
  const answer = await fetch(state.apiUrl + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, ms: Math.round(performance.now() - started), body: JSON.parse(text) };
}

async function showVersions() {
  const pairs = demoVersions.map((version) => ({ node_id: 'demo-node', version }));
  const { body } = await call('POST', '/bulk/nodes/versions', { node_versions: pairs });
  const found = body.node_versions.flatMap(({ node_version }) => node_version ?? []);
  show('versions', found, ({ version, status, status_reason, downloadUrl }) =>
    row(
      version,
      status.replace('NodeVersionStatus', ''),
      downloadUrl ? element('a', { href: downloadUrl }, 'Download') : (status_reason ?? ''),
    ),
  );
}

/** Shows the answer below its call, because on a phone nothing else is visible. */
async function sendSample(item, method, path, operation) {
  const sample = Object.fromEntries(
    operation.parameters
      .filter(({ in: place }) => place === 'path')
      .map(({ name, example }) => [name, example]),
  );
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(sample[name]));
  const body = { ...operation.requestBody.content['application/json'].examples.sample.value };
  const notified = { Images: 'webhook_url', Videos: 'callback_url' }[operation.tags[0]];
  if (notified) body[notified] = `${location.origin}/callbacks`;
  const {
    status,
    ms,
    body: reply,
  } = await call(method, filled, body, {
    authorization: `Bearer ${state.ownerToken}`,
  });
  item.append(at('answer'));
  at('answer').replaceChildren(
    element(
      'pre',
      { tabIndex: 0 },
      `${method} ${filled}\n`,
      element('b', { className: toneOf(status) }, `${status}`),
      ` in ${ms} ms\n\n${JSON.stringify(reply, null, 2)}`,
    ),
  );
  await poll();
}

async function command(name, body, sentence) {
  const answer = await fetch(`/simulators/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  at('armed').textContent = answer.ok ? sentence : 'The simulators do not answer.';
  await poll();
}

/** A button that cannot be pressed again while its work runs, and that shows a failure. */
function button(label, work) {
  const made = element('button', { type: 'button' }, label);
  made.addEventListener('click', () => guard(made, work));
  return made;
}

async function guard(control, work) {
  control.disabled = true;
  await work().catch(({ message }) => {
    at('trouble').hidden = false;
    at('trouble').textContent = `That did not work: ${message}`;
  });
  control.disabled = false;
  control.focus();
}

function renderSwitches() {
  for (const provider of ['image', 'video']) {
    const buttons = Object.entries(disturbances).map(([label, disturbance]) =>
      button(label, () =>
        command(
          'misbehave',
          { provider, ...disturbance },
          `Next call of the ${provider} provider: ${label}.`,
        ),
      ),
    );
    const legend = element('legend', {}, provider === 'image' ? 'Image provider' : 'Video provider');
    at('switches').append(element('fieldset', {}, legend, element('div', { className: 'row' }, ...buttons)));
  }
  for (const control of document.querySelectorAll('[data-command]')) {
    const { command: name, body } = control.dataset;
    const work = () => command(name, JSON.parse(body), `${control.textContent}: done.`);
    control.addEventListener('click', () => guard(control, work));
  }
}

async function renderOperations() {
  const { paths } = await (await fetch('/openapi.json')).json();
  for (const [path, operations] of Object.entries(paths)) {
    for (const [verb, operation] of Object.entries(operations)) {
      const method = verb.toUpperCase();
      const tag = operation.tags[0].toLowerCase();
      const item = element('li');
      const send = button('Send', () => sendSample(item, method, path, operation));
      send.setAttribute('aria-label', `Send: ${operation.summary}`);
      const link = element('a', { href: `/reference/#tag/${tag}/${method}${path}` }, operation.summary);
      const names = element('div', {}, link, element('div', { className: 'path' }, path));
      item.append(element('span', { className: 'method' }, method), names, send);
      at('operations').append(item);
    }
  }
}

renderSwitches();
await poll();
await renderOperations();
at('refresh').addEventListener('click', () => guard(at('refresh'), showVersions));
await showVersions();
setInterval(() => document.visibilityState === 'visible' && poll(), everyMs);
