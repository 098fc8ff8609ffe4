// Each minute: polls providers for tasks without a final notification
import { pollProviders } from '../lib/notifications/poll.ts';

export const handler = pollProviders;
