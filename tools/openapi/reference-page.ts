import scalar from '@scalar/fastify-api-reference';

interface ReferencePage {
  /** Filled in for trying things out. */
  apiUrl?: string;
  accessToken?: string;
}

export const referencePath = '/reference/';

/** The files of the page next to its HTML: the viewer, and the document that it shows. */
export const scriptFile = 'js/scalar.js';
export const documentFile = 'openapi.json';

/** On a phone the viewer's form for trying a call out is wider than the screen, and its Send button is beyond it. */
const narrowStyle = `
      @media (max-width: 600px) {
        [role="dialog"] :is(.flex-col.flex-1, section) { min-width: 0; }
        [role="dialog"] .scalar-sidebar-toggle { display: none; }
      }
    `;

/** The page that shows the document. Nothing on it is loaded from another machine or reported to one. */
export function renderReferencePage({ apiUrl, accessToken }: ReferencePage = {}): string {
  const configuration = {
    url: `./${documentFile}`,
    ...(apiUrl !== undefined && { servers: [{ url: apiUrl }] }),
    authentication: {
      preferredSecurityScheme: 'accessToken',
      ...(accessToken !== undefined && { securitySchemes: { accessToken: { token: accessToken } } }),
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
    <style>${narrowStyle}</style>
  </head>
  <body>
    <div id="app"></div>
    <script src="${scriptFile}"></script>
    <script>Scalar.createApiReference('#app', ${JSON.stringify(configuration).replaceAll('<', '\\u003c')});</script>
  </body>
</html>
`;
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
