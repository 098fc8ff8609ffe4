// New notifications by the table's stream, and each minute those that are due again
import { deliverDue, deliverNew } from '../lib/notifications/deliver.ts';
import { deliveryEvents } from '../lib/notifications/delivery-events.ts';

export const handler = deliveryEvents({ deliverNew, deliverDue });
