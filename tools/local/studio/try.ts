interface Swagger {
  preauthorizeApiKey: (scheme: string, token: string) => void;
}

/** Loaded by the page before this script. */
declare const SwaggerUIBundle: (options: object) => Swagger;

const { values } = await (await fetch('/studio.json')).json();
const [token] = Object.values<string>(values);
const swagger = SwaggerUIBundle({
  url: '/reference/openapi.json',
  dom_id: '#try',
  tryItOutEnabled: true,
  docExpansion: 'list',
  // The standard one belongs to a stranger.
  validatorUrl: null,
  onComplete: () => swagger.preauthorizeApiKey('accessToken', token ?? ''),
});
