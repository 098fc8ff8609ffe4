/** For serverless.yml, which reads no TypeScript. */
export { localEnvironment as default, relaysNotifications } from './addresses.ts';
