/** Sends the calls of the reference's forms, and shows what the service answers. */

const { api = '' } = document.body.dataset;
const token = document.querySelector<HTMLInputElement>('#token');

for (const form of document.querySelectorAll('form'))
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
openTarget();
addEventListener('hashchange', openTarget);

async function send(form: HTMLFormElement): Promise<void> {
  const output = form.querySelector('output');
  const button = form.querySelector('button');
  if (!output || !button) return;
  output.textContent = 'Sending…';
  button.disabled = true;
  output.textContent = await ask(form).catch((error: Error) => `The call failed: ${error.message}.`);
  button.disabled = false;
}

async function ask(form: HTMLFormElement): Promise<string> {
  const { verb = '', path = '' } = form.dataset;
  const inputs = [...form.querySelectorAll('input')].filter(({ value }) => value !== '');
  const values = new Map(inputs.map(({ name, value }) => [name, value]));
  const headers = inputs
    .filter(({ dataset }) => dataset.in === 'header')
    .map(({ name, value }) => [name, value]);
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodedTwice(values.get(name) ?? ''));
  const response = await fetch(api + address, {
    method: verb,
    body: form.querySelector('textarea')?.value ?? '',
    headers: {
      'content-type': 'application/json',
      ...(token?.value && { authorization: `Bearer ${token.value}` }),
      ...Object.fromEntries(headers),
    },
  });
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  return [`${response.status} ${response.statusText}`, ...lines, '', indented(await response.text())].join(
    '\n',
  );
}

/** A gateway decodes the path before it chooses the route, so what it would cut or split at is encoded twice. */
function encodedTwice(value: string): string {
  return encodeURIComponent(value).replaceAll(/%(2F|3F|23|25)/g, '%25$1');
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

/** A link to an operation leads to its form. */
function openTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  target?.querySelector('details.try')?.setAttribute('open', '');
  target?.scrollIntoView();
}
