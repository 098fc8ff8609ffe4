// POST /notifications/{provider}/{ticket}: a provider says how a task stands; not for callers of this service
import { receiveNotification } from '../lib/http/receive-notification.ts';

export const handler = receiveNotification;
