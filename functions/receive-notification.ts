// POST /notifications/{provider}/{task}: a provider reports a task's state; not for callers of this service
export { receiveNotification as handler } from '../lib/http/receive-notification.ts';
