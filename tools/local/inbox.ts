import type { IncomingHttpHeaders } from 'node:http';
import { isObject, parseObject } from '../../lib/json.ts';
import { readSigningKeys } from '../../lib/notifications/signature.ts';
import { InvalidNotification, verifyNotification } from '../../packages/registry-client/notification.ts';
import { localEnvironment } from './addresses.ts';

/** A notification that came to the home page, which is the receiver of its own calls. */
export interface Received {
  at: string;
  /** Undefined where the provider itself notifies, who signs nothing. */
  id?: string;
  task: string;
  state: string;
  /** The picture or film, once there is one. */
  media?: string;
  /** `valid`, or why the signature is not. Undefined without a signature. */
  signature?: string;
}

export interface Inbox {
  add: (headers: IncomingHttpHeaders, body: string) => Promise<void>;
  /** Newest first. */
  latest: () => Received[];
}

const maxReceived = 20;

/** With what receivers check the notifications of the local stack. */
export function localPublicKeys(): string[] {
  return readSigningKeys(localEnvironment.NOTIFICATION_SIGNING_KEY).map(({ publicKey }) => publicKey);
}

export function createInbox(): Inbox {
  const keys = localPublicKeys();
  const received: Received[] = [];
  const add = async (headers: IncomingHttpHeaders, body: string) => {
    const id = headers['webhook-id'];
    received.unshift({
      at: new Date().toISOString(),
      ...subjectOf(body),
      ...(typeof id === 'string' && { id, signature: await checkSignature(headers, body, keys) }),
    });
    received.length = Math.min(received.length, maxReceived);
  };
  return { add, latest: () => received };
}

function checkSignature(headers: IncomingHttpHeaders, body: string, keys: string[]): Promise<string> {
  return verifyNotification(headers, body, keys).then(
    () => 'valid',
    (error: unknown) => (error instanceof InvalidNotification ? error.reason : 'not checked'),
  );
}

/** The image provider calls a state status. Both providers may nest their fields. */
function subjectOf(body: string): Pick<Received, 'task' | 'state' | 'media'> {
  const content = parseObject(body) ?? {};
  const about = isObject(content.data) ? { ...content, ...content.data } : content;
  return {
    task: String(about.task_id ?? about.id ?? 'unknown'),
    state: String(about.state ?? about.status ?? 'unknown'),
    ...(Array.isArray(about.media) && typeof about.media[0] === 'string' && { media: about.media[0] }),
  };
}
