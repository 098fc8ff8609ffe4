import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';

const source = readFileSync(new URL('page-addresses.js', import.meta.url), 'utf8');
/** The distribution's answer: the object's path, or a redirect to the one URL of a page. */
interface Led {
  uri?: string;
  headers?: { location: { value: string } };
}

const handler: (event: { request: object }) => Led = runInNewContext(`${source};handler`);

/** The path that the distribution's function maps a URL to, or the URL that it redirects to. */
export function leadAddress(uri: string, query = ''): { path: string; location?: string | undefined } {
  const pairs = [...query.matchAll(/([^&=]+)=?([^&]*)/g)];
  const querystring = Object.fromEntries(pairs.map(([, name, value]) => [name, { value }]));
  const { uri: path = '', headers } = handler({ request: { uri, querystring } });
  return { path, location: headers?.location.value };
}
