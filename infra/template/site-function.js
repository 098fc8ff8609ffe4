/** For downloads.yml: the framework runs a script that a template names, and this one is CloudFront's to run. */
import { readFileSync } from 'node:fs';

const code = { text: readFileSync(new URL('page-addresses.js', import.meta.url), 'utf8') };

export { code as 'module.exports' };
