import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { httpRequest, TransportError } from '../outgoing/http-request.ts';
import { isLocal, isPublic, readReceiverUrl } from './notification-urls.ts';
import type { NotificationRecord } from './records.ts';
import { signatureHeaders, type SigningKey } from './signature.ts';

/** Why a try failed, in our own words: a receiver's response is never shown. */
type DeliveryError =
  | 'address_rejected'
  | 'name_rejected'
  | 'name_not_found'
  | 'not_connected'
  | 'connection_lost'
  | 'timed_out'
  | 'answered_no';

interface DeliveryResult {
  outcome: 'delivered' | 'gone' | 'failed';
  status?: number;
  error?: DeliveryError;
  /** No further try can succeed. */
  isHopeless?: true;
}

/** From the lookup to the end of the response. It also bounds how long hanging receivers delay others. */
const maxDeliveryMs = 3000;

/** Only the status of a response counts; this much is read so that the receiver can finish writing it. */
const maxAnswerBytes = 4096;

interface Notification extends Pick<NotificationRecord, 'id' | 'body'> {
  address: string;
}

export async function deliverOnce(
  notification: Notification,
  keys: readonly SigningKey[],
): Promise<DeliveryResult> {
  const url = readReceiverUrl(notification.address);
  if (!url) return { outcome: 'failed', error: 'address_rejected', isHopeless: true };
  try {
    const { status } = await httpRequest({
      url,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'node-registry',
        ...signatureHeaders(keys, notification),
      },
      body: Buffer.from(notification.body),
      timeoutMs: maxDeliveryMs,
      maxReplyBytes: maxAnswerBytes,
      lookup: checkedLookup,
    });
    return resultOf(status);
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    const { head, reason, sent, cause } = error;
    if (head) return resultOf(head.status);
    if (cause instanceof NameError) return { outcome: 'failed', error: cause.reason };
    if (reason === 'timeout') return { outcome: 'failed', error: 'timed_out' };
    return { outcome: 'failed', error: sent ? 'connection_lost' : 'not_connected' };
  }
}

/** Redirects are not followed, because they would lead to a URL that no caller gave us. */
function resultOf(status: number): DeliveryResult {
  if (status >= 200 && status < 300) return { outcome: 'delivered', status };
  if (status === 410) return { outcome: 'gone', status };
  return { outcome: 'failed', error: 'answered_no', status };
}

/*
 * Callers choose where they are notified, so their URLs must not lead into this account or machine. A connection
 * looks its name up once, and begins only if every address is checked. A host that is an address was checked with
 * its URL.
 */

/** Queries the name servers directly: a few dead names would block the system's four lookup threads. */
export const resolver = new Resolver({ timeout: 1500, tries: 1 });

class NameError extends Error {
  readonly reason: 'name_rejected' | 'name_not_found';

  constructor(reason: NameError['reason']) {
    super(reason);
    this.reason = reason;
  }
}

/** Replaces the system's lookup. Node's connections ask for all addresses, to try one after the other. */
const checkedLookup: LookupFunction = (name, _, callback) => {
  findAddresses(name).then(
    (addresses) => callback(null, addresses),
    (error) => callback(error, []),
  );
};

async function findAddresses(name: string): Promise<LookupAddress[]> {
  const addresses = isLocal(name) ? ['127.0.0.1', '::1'] : await resolve(name);
  if (addresses.length === 0) throw new NameError('name_not_found');
  if (!isLocal(name) && !addresses.every(isPublic)) throw new NameError('name_rejected');
  return addresses.map((address) => ({ address, family: isIP(address) }));
}

async function resolve(name: string): Promise<string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}
