import { setTimeout as pause } from 'node:timers/promises';
import { httpRequest, TransportError } from '../outgoing/http-request.ts';
import { findAddresses, pinnedTo } from './addresses.ts';
import { readAddress } from './receiver-address.ts';
import type { NotificationRecord } from './records.ts';
import { type SigningKey, signatureHeaders } from './signature.ts';

/** The reasons why an attempt failed, in our own words: no one is shown a receiver's response. */
type DeliveryError =
  | 'address_refused'
  | 'name_refused'
  | 'name_not_found'
  | 'not_connected'
  | 'connection_lost'
  | 'timed_out'
  | 'answered_no';

/** `hopeless`: no further attempt could go better. */
export type DeliveryResult =
  | { outcome: 'delivered' | 'gone'; status: number }
  | { outcome: 'failed'; error: DeliveryError; status?: number; isHopeless?: true };

/** From the lookup to the end of the response. It also bounds how long hanging receivers can delay other callers. */
const maxDeliveryMs = 3000;
const maxLookupMs = 1500;

/** An answer says all that counts in its status; this much is read so that the receiver can finish writing it. */
const maxAnswerBytes = 4096;

/** The characters that a header may contain. */
const headerText = /^[\x20-\x7e]+$/;

interface Notification extends Pick<NotificationRecord, 'id' | 'body' | 'content_type'> {
  address: string;
}

/** Sends a notification to its receiver, once. */
export async function deliverOnce(
  notification: Notification,
  keys: readonly SigningKey[],
): Promise<DeliveryResult> {
  const began = Date.now();
  const url = readAddress(notification.address);
  if (!url) return { outcome: 'failed', error: 'address_refused', isHopeless: true };
  const late = pause(maxLookupMs, [], { ref: false });
  const addresses = await Promise.race([findAddresses(url), late]);
  if (addresses === 'not public') return { outcome: 'failed', error: 'name_refused' };
  if (addresses.length === 0) return { outcome: 'failed', error: 'name_not_found' };
  try {
    const { status } = await httpRequest({
      url,
      method: 'POST',
      headers: {
        'content-type': headerText.test(notification.content_type)
          ? notification.content_type
          : 'application/json',
        'user-agent': 'node-registry',
        ...signatureHeaders(keys, notification),
      },
      body: Buffer.from(notification.body),
      timeoutMs: began + maxDeliveryMs - Date.now(),
      maxReplyBytes: maxAnswerBytes,
      lookup: pinnedTo(addresses),
    });
    return resultOf(status);
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    if (error.head) return resultOf(error.head.status);
    if (error.reason === 'timeout') return { outcome: 'failed', error: 'timed_out' };
    return { outcome: 'failed', error: error.sent ? 'connection_lost' : 'not_connected' };
  }
}

/** Redirects are not followed, because they would lead to an address that no caller gave us. */
function resultOf(status: number): DeliveryResult {
  if (status >= 200 && status < 300) return { outcome: 'delivered', status };
  if (status === 410) return { outcome: 'gone', status };
  return { outcome: 'failed', error: 'answered_no', status };
}
