/** For downloads.yml: the framework would run a script that a template names; this one is CloudFront's. */
import { readFileSync } from 'node:fs';

const code = {
  text: readFileSync(new URL('../../packages/site/page-addresses.js', import.meta.url), 'utf8'),
};

export { code as 'module.exports' };
