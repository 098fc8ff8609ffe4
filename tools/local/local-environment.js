/** For serverless.yml, which reads no TypeScript. */
export { localEnvironment as default } from './addresses.ts';
