// Each minute: polls providers for tasks without a final notification
export { pollProviders as handler } from '../lib/notifications/poll.ts';
