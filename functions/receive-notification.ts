// POST /notifications/{provider}/{ticket}: a provider reports a task's state; not for callers of this service
import { receiveNotification } from '../lib/http/receive-notification.ts';

export const handler = receiveNotification;
