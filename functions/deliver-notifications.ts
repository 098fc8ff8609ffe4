// The queue's messages; each minute, a schedule queues the notifications that are due
import { deliverNotifications } from '../lib/notifications/deliver.ts';

export const handler = deliverNotifications;
