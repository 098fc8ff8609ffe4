import { html } from '@node-registry/site/markup';
import type { LoggedRequest } from './request-log.ts';

interface Home {
  links: Record<string, string>;
  /** Access tokens by their users. */
  tokens: Record<string, string>;
  /** The key that receivers verify notifications with. */
  publicKey: string;
  /** Newest first. */
  requests: readonly LoggedRequest[];
}

const style = `
  :root { color-scheme: light dark; }
  body { background: Canvas; font: 1rem/1.5 system-ui, sans-serif; max-width: 56rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
  li { margin: 0.5rem 0; }
  input { width: 100%; box-sizing: border-box; font-family: ui-monospace, monospace; }
`;

/** The page for developers on the local stack: links, tokens, and the latest responses of the API. */
export function renderHome({ links, tokens, publicKey, requests }: Home): string {
  const values = Object.entries({ ...tokens, 'The key that signs notifications': publicKey });
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Node registry: local stack</title>
    <link rel="icon" href="data:,">
    <style>${style}</style>
  </head>
  <body>
    <main>
      <h1>Node registry: local stack</h1>
      <ul>${Object.entries(links).map(([name, href]) => html`<li><a href="${href}">${name}</a></li>`)}</ul>
      <h2>Tokens</h2>
      ${values.map(([name, value]) => html`<p><label>${name} <input readonly value="${value}"></label></p>`)}
      <h2>Latest requests</h2>
      <p><a href="/">Show newer requests</a></p>
      ${requests.length === 0 && html`<p>The API has answered no request yet.</p>`}
      <ol id="requests">${requests.map(requestLine)}</ol>
    </main>
  </body>
</html>
`.text;
}

function requestLine({ at, id, method, path, caller, status, ms, error }: LoggedRequest) {
  return html`<li><strong>${status}</strong> <code>${method} ${path}</code><br>
    <time datetime="${at}">${at.slice(11, 19)}</time>, ${caller}, ${ms} ms, request ${id}
    ${error !== '' && html`<br><code>${error}</code>`}</li>`;
}
