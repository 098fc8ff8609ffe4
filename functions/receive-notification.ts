// POST /notifications/{provider}/{task}: a provider reports a task's state; not for callers of this service
import { receiveNotification } from '../lib/http/receive-notification.ts';

export const handler = receiveNotification;
