// Each minute: asks providers about the tasks whose end they have not notified
import { askProviders } from '../lib/notifications/ask.ts';

export const handler = askProviders;
