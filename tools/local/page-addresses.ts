import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';

const source = readFileSync(new URL('../../infra/template/page-addresses.js', import.meta.url), 'utf8');
const handler: (event: { request: { uri: string } }) => { uri: string } = runInNewContext(
  `${source};handler`,
);

/** The path that the distribution's function maps a URL to. */
export function leadAddress(uri: string): string {
  return handler({ request: { uri } }).uri;
}
