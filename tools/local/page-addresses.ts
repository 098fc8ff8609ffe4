import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';

const source = readFileSync(new URL('../../infra/template/page-addresses.js', import.meta.url), 'utf8');
const handler: (event: { request: { uri: string } }) => { uri: string } = runInNewContext(
  `${source};handler`,
);

/** What the distribution's function makes of an address. */
export function leadAddress(uri: string): string {
  return handler({ request: { uri } }).uri;
}
