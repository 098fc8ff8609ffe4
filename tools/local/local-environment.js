/** For serverless.yml, which doesn't read TypeScript. */
export { localEnvironment as default } from './addresses.ts';
