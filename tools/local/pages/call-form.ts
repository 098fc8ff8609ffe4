import { at, copyable, element } from '../../../packages/site/pages/elements.ts';
import { guard, toneOf } from './lists.ts';
import type { Operation } from './operations.ts';
import { uploadSample } from './story.ts';
import { type Call, call, owner, type Reply, refresh, stack } from './stack.ts';

const shownHeaders = [
  'x-request-id',
  'etag',
  'retry-after',
  'ratelimit',
  'x-credits-used',
  'link',
  'deprecation',
];

/** The methods of the typed client. Their first arguments are those of the path. */
const clientMethods: Record<string, string> = {
  ...{
    publishNodeVersion: 'versions.register',
    updateNode: 'nodes.update',
    updateHostNode: 'hostNodes.update',
  },
  ...{ bulkNodeVersions: 'versions.bulk', relightImage: 'images.relight', textToVideo: 'videos.fromText' },
  ...{ extendVideo: 'videos.extend', multiframeVideo: 'videos.multiframe' },
};

const path = () => at<HTMLInputElement>('call-path');
const body = () => at<HTMLTextAreaElement>('call-body');
const user = () => at<HTMLSelectElement>('send-as');

/** The form that sends any call, and shows it as curl and TypeScript. */
export function startCallForm(operations: readonly Operation[]): void {
  const select = at<HTMLSelectElement>('operation');
  select.append(...operations.map(({ id, summary }) => element('option', { value: id }, summary)));
  const chosen = () => operations.find(({ id }) => id === select.value) as Operation;
  const fill = () => {
    const sample = chosen().sample();
    path().value = sample.path;
    body().value = JSON.stringify(sample.body, null, 2);
    at<HTMLAnchorElement>('in-reference').href = chosen().reference;
    showElsewhere(chosen());
  };
  select.addEventListener('input', () => {
    at('answer').replaceChildren();
    fill();
  });
  for (const control of [path(), body(), user()])
    control.addEventListener('input', () => showElsewhere(chosen()));
  at('call-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void guard(at<HTMLButtonElement>('send'), async () => {
      const sent = { method: chosen().method, path: path().value, body: body().value };
      showReply(sent, await call(sent, user().value));
      // The next one would be a version that exists by now.
      if (chosen().id === 'publishNodeVersion') fill();
      await refresh();
    });
  });
  fill();
}

function showReply({ method, path }: Call, { status, ms, headers, body }: Reply): void {
  const sent = shownHeaders.filter((name) => headers.has(name));
  const lines = sent.map((name) => `${name}: ${headers.get(name)}\n`).join('');
  const answer = element(
    'pre',
    { tabIndex: 0, ariaLabel: 'Response', role: 'region' },
    `${method} ${path}\n`,
    element('b', { className: toneOf(status) }, `${status}`),
    ` in ${ms} ms\n${lines}\n${JSON.stringify(body, null, 2)}`,
  );
  at('answer').replaceChildren(answer);
  if (typeof body.signedUrl === 'string') offerUpload(body.signedUrl, body);
}

function offerUpload(signedUrl: string, { node_version }: Record<string, unknown>): void {
  const upload = element('button', { type: 'button' }, 'Upload a small archive to the signedUrl');
  const version = String((node_version as { version: string }).version);
  upload.onclick = () =>
    guard(upload, async () => {
      await uploadSample(signedUrl, version);
      upload.replaceWith('Uploaded. The version is active once the archive has been checked.');
    });
  at('answer').append(element('p', {}, upload));
}

function showElsewhere(operation: Operation): void {
  const lines = compact(body().value);
  const token = user().value || owner();
  const url = `${stack?.state.apiUrl}${path().value}`;
  const isSent = user().value !== '';
  const curl = [
    `curl -X ${operation.method} '${url}'`,
    ...(isSent ? [`-H "Authorization: Bearer $(npm run --silent token -- --user ${token})"`] : []),
    `--json '${lines.replaceAll("'", `'\\''`)}'`,
  ].join(' \\\n  ');
  at('as-curl').replaceChildren(copyable(curl));
  at('as-typescript').replaceChildren(copyable(typescriptOf(operation, isSent)));
}

function typescriptOf(operation: Operation, isSent: boolean): string {
  const names = operation.template.split('/').map((part, place) => (part.startsWith('{') ? place : -1));
  const parts = path().value.split('/');
  const values = names
    .filter((place) => place >= 0)
    .map((place) => `'${decodeURIComponent(parts[place] ?? '')}'`);
  const given = operation.id === 'bulkNodeVersions' ? pairsOf(body().value) : body().value;
  return `import { createRegistryClient } from 'registry-client';

const registry = createRegistryClient({
  baseUrl: '${stack?.state.apiUrl}',${isSent ? '\n  accessToken: process.env.ACCESS_TOKEN,' : ''}
});
const answer = await registry.${clientMethods[operation.id]}(${[...values, given].join(', ')});`;
}

function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

function pairsOf(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text).node_versions, null, 2);
  } catch {
    return text;
  }
}
