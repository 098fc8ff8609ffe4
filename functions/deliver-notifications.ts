// The messages of the queue, and each minute what is due to be handed to it
import { deliver } from '../lib/notifications/deliver.ts';
import { deliveryEvents } from '../lib/notifications/delivery-events.ts';
import { handOverDue } from '../lib/notifications/hand-over.ts';

export const handler = deliveryEvents({ deliver, handOverDue });
