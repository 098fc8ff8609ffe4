import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { httpRequest, TransportError } from '../outgoing/http-request.ts';
import { isPublic, literalOf, localAddresses, readReceiverUrl } from './notification-urls.ts';
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

/** `isHopeless`: no further try can succeed. */
export type DeliveryResult =
  | { outcome: 'delivered' | 'gone'; status: number }
  | { outcome: 'failed'; error: DeliveryError; status?: number; isHopeless?: true };

/** From the lookup to the end of the response. It also bounds how long hanging receivers delay others. */
const maxDeliveryMs = 3000;
const maxLookupMs = 1500;

/** Only the status of a response counts; this much is read so that the receiver can finish writing it. */
const maxAnswerBytes = 4096;

interface Notification extends Pick<NotificationRecord, 'id' | 'body'> {
  address: string;
}

export async function deliverOnce(
  notification: Notification,
  keys: readonly SigningKey[],
): Promise<DeliveryResult> {
  const began = Date.now();
  const url = readReceiverUrl(notification.address);
  if (!url) return { outcome: 'failed', error: 'address_rejected', isHopeless: true };
  const late = pause(maxLookupMs, [], { ref: false });
  const addresses = await Promise.race([findAddresses(url), late]);
  if (addresses === 'not public') return { outcome: 'failed', error: 'name_rejected' };
  if (addresses.length === 0) return { outcome: 'failed', error: 'name_not_found' };
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

/** Redirects are not followed, because they would lead to a URL that no caller gave us. */
function resultOf(status: number): DeliveryResult {
  if (status >= 200 && status < 300) return { outcome: 'delivered', status };
  if (status === 410) return { outcome: 'gone', status };
  return { outcome: 'failed', error: 'answered_no', status };
}

/*
 * Callers choose where they are notified, so their URLs must not lead into this account or machine. The name
 * is resolved once, every address is checked, and the connection goes to a checked address.
 */

/** Queries the name servers directly: a few dead names would block the system's four lookup threads. */
export const resolver = new Resolver({ timeout: 1500, tries: 2 });

/** The addresses of a host: empty if it has none, `not public` if one of them isn't. */
export async function findAddresses(url: URL): Promise<LookupAddress[] | 'not public'> {
  const local = localAddresses(url);
  if (local) return local.map(entryOf);
  const literal = literalOf(url);
  const addresses = literal === undefined ? await resolve(url.hostname) : [literal];
  return addresses.every(isPublic) ? addresses.map(entryOf) : 'not public';
}

async function resolve(name: string): Promise<string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

function entryOf(address: string): LookupAddress {
  return { address, family: isIP(address) };
}

/** Replaces the lookup: the connection goes to the first of these addresses even if the name has changed. */
export function pinnedTo(addresses: LookupAddress[]): LookupFunction {
  return (_, { all }, callback) => {
    const [first] = addresses;
    if (!first) callback(new Error('The name has no address.'), '');
    else if (all) callback(null, addresses);
    else callback(null, first.address, first.family);
  };
}
