/** For serverless.yml, which reads no TypeScript. */
export { environments as default } from './environment.ts';
