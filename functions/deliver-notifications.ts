// The queue's messages; each minute, a schedule queues the notifications that are due
export { deliverNotifications as handler } from '../lib/notifications/deliver.ts';
