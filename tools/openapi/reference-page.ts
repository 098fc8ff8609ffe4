import { readFileSync } from 'node:fs';
import scalar from '@scalar/fastify-api-reference';

interface ReferencePage {
  /** Filled in for trying things out. */
  apiUrl: string;
  accessToken: string;
  homeUrl: string;
}

export const referencePath = '/reference/';

/** The files of the page next to its HTML: the viewer, and the document that it shows. */
export const scriptFile = 'js/scalar.js';
export const documentFile = 'openapi.json';

/**
 * The viewer's own colors are too faint, and its lists cannot be scrolled by keyboard. On a phone its form for trying a call
 * out is wider than the screen, and its Send button is beyond it.
 */
const viewerStyle = `
      .light-mode { --scalar-color-2: #595959; --scalar-color-3: #636363; --scalar-color-green: #00693f; --scalar-color-orange: #a33700; }
      .dark-mode { --scalar-color-3: #8f8f8f; }
      ul.endpoints, div:has(> ul.endpoints) { max-height: none !important; overflow: clip !important; }
      ul.endpoints * { white-space: normal !important; overflow-wrap: anywhere; }
      @media (max-width: 600px) {
        [role="dialog"] :is(.flex-col.flex-1, section) { min-width: 0; }
        [role="dialog"] .scalar-sidebar-toggle { display: none; }
      }
    `;

/** What is there before the viewer is. */
const firstStyle = `
      :root { color-scheme: light dark; }
      .home, .first { font: 1rem/1.5 system-ui, sans-serif; padding: 0.75rem 1rem; }
      .first li { overflow-wrap: anywhere; }
    `;

/** The page that shows the document. Nothing on it is loaded from another machine or reported to one. */
export function renderReferencePage({ apiUrl, accessToken, homeUrl }: ReferencePage): string {
  const configuration = {
    url: `./${documentFile}`,
    servers: [{ url: apiUrl }],
    authentication: {
      preferredSecurityScheme: 'accessToken',
      securitySchemes: { accessToken: { token: accessToken } },
    },
    favicon: 'data:,',
    defaultOpenAllTags: true,
    hideModels: true,
    documentDownloadType: 'json',
    withDefaultFonts: false,
    telemetry: false,
    showDeveloperTools: 'never',
    hideClientButton: true,
    agent: { disabled: true },
    mcp: { disabled: true },
  };
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>API reference</title>
    <style>${viewerStyle}${firstStyle}</style>
  </head>
  <body>
    <nav class="home" aria-label="Pages"><a href="${homeUrl}">Node registry: local stack</a></nav>
    <main class="first">
      <h1>API reference</h1>
      <p>The viewer is loading (1 MB). The document itself is <a href="${documentFile}">${documentFile}</a>.</p>
      <noscript><p>The viewer needs JavaScript; the document does not.</p></noscript>
      <ul>${listOperations()
        .map((line) => `<li>${line}</li>`)
        .join('')}</ul>
    </main>
    <div id="app"></div>
    <script defer src="${scriptFile}"></script>
    <script type="module">document.querySelector('.first').remove(); Scalar.createApiReference('#app', ${JSON.stringify(configuration).replaceAll('<', '\\u003c')});</script>
  </body>
</html>
`;
}

function listOperations(): string[] {
  const { paths }: { paths: Record<string, object> } = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((verb) => `<code>${verb.toUpperCase()} ${path}</code>`),
  );
}

/**
 * The viewer's script. The only package that has it ready to serve, without Vue and some hundred packages, keeps it
 * inside a plugin for Fastify. The plugin gets a server that only has routes, so Fastify is not needed.
 */
export function readViewerScript(): Promise<string> {
  return new Promise((resolve, reject) => {
    const reply = { header: () => reply, send: resolve };
    const route = ({ url, handler }: Route) => {
      if (url === referencePath + scriptFile) handler({}, reply);
    };
    const register = scalar as unknown as RoutePlugin;
    register({ route }, { routePrefix: referencePath, configuration: { url: documentFile } }, () =>
      reject(new Error(`The viewer's package does not serve ${scriptFile}.`)),
    );
  });
}

interface Route {
  url: string;
  handler: (request: object, reply: object) => void;
}

type RoutePlugin = (server: { route: (route: Route) => void }, options: object, done: () => void) => void;
