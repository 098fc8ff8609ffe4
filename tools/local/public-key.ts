import { readSigningKeys } from '../../lib/notifications/signature.ts';
import { localEnvironment } from './addresses.ts';

/** The key that verifies the notifications of the local stack. */
export function notificationPublicKey(): string {
  const [key] = readSigningKeys(localEnvironment.NOTIFICATION_SIGNING_KEY);
  return String(key?.publicKey);
}
