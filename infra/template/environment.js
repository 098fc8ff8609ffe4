/** For serverless.yml, which reads no TypeScript, and awaits what a file exports. */
import { loadEnvironments } from './environment.ts';

const environments = loadEnvironments();

export { environments as 'module.exports' };
