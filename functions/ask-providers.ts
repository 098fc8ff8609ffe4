// Each minute: asks providers about tasks without a final notification
import { askProviders } from '../lib/notifications/ask.ts';

export const handler = askProviders;
