/** For downloads.yml: the framework would run a script that a template names, but this one is for CloudFront. */
import { readFileSync } from 'node:fs';

const code = { text: readFileSync(new URL('page-addresses.js', import.meta.url), 'utf8') };

export { code as 'module.exports' };
