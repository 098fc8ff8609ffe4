// Each minute: asks providers for the tasks whose end they have not notified
import { askProviders } from '../lib/notifications/ask.ts';

export const handler = askProviders;
