// The messages of the queue, and each minute what is due to be handed to it
import { deliverNotifications } from '../lib/notifications/deliver.ts';

export const handler = deliverNotifications;
