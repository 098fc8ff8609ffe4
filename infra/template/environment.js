/** For serverless.yml, which doesn't read TypeScript, and awaits a file's exports. */
import { loadEnvironments } from './environment.ts';

const environments = loadEnvironments();

export { environments as 'module.exports' };
