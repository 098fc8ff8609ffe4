import type { components } from './openapi.ts';

/** Why a notification must not be trusted. */
export type InvalidReason =
  /** The body isn't the raw one, but for example a parsed object. */
  | 'not_raw'
  /** A header of the signature is missing or can't be read. */
  | 'missing_header'
  /** The attempt's time is more than five minutes ago, or more than five minutes ahead. */
  | 'too_old'
  | 'too_new'
  /** No signature over these bytes is by one of the keys. */
  | 'wrong_signature'
  /** It is signed, and isn't JSON. */
  | 'not_json'
  /** No public key was given. */
  | 'no_keys';

/** The only error of `verifyNotification`, except a TypeError for an invalid public key. */
export class InvalidNotification extends Error {
  override readonly name = 'InvalidNotification';
  readonly reason: InvalidReason;

  constructor(reason: InvalidReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface Notification {
  /** The same in every attempt to send it: skip a notification whose id you know. */
  id: string;
  /** When this attempt was made. */
  timestamp: Date;
  /** The provider's report about the task: `task_id`, `state`, `media`, `error`, and its own fields. */
  payload: TaskNotification;
}

export type TaskNotification = components['schemas']['TaskNotification'];

type HeaderFields = Headers | Record<string, string | readonly string[] | undefined>;

const toleranceSeconds = 5 * 60;
const encoder = new TextEncoder();

/**
 * Checks that a notification comes from the service and is new, and reads it. `body` is the raw body, before
 * any parser; `publicKey` is a `whpk_…` or a list of them. Also works in browsers.
 */
export async function verifyNotification(
  headers: HeaderFields,
  body: string | Uint8Array | ArrayBuffer,
  publicKey: string | readonly string[],
): Promise<Notification> {
  const bytes = bytesOf(body);
  // An unset environment variable isn't a key either.
  const keys = await Promise.all([publicKey ?? []].flat().map(readKey));
  if (keys.length === 0)
    throw new InvalidNotification('no_keys', 'Pass the public key of the service: whpk_….');
  const id = header(headers, 'webhook-id');
  const seconds = header(headers, 'webhook-timestamp');
  const signatures = header(headers, 'webhook-signature');
  // The signature covers the id, the time and the body, with dots between them. With a dot in the id, one
  // signature would also be valid for other times and bodies.
  if (id.includes('.')) throw new InvalidNotification('missing_header', 'The header webhook-id has a dot.');
  if (!/^\d{1,12}$/.test(seconds))
    throw new InvalidNotification('missing_header', 'The header webhook-timestamp is not a valid time.');
  checkAge(Number(seconds));
  const content = joined(encoder.encode(`${id}.${seconds}.`), bytes);
  if (!(await isSigned(content, signatures, keys)))
    throw new InvalidNotification('wrong_signature', 'No signature of the notification matches a given key.');
  return { id, timestamp: new Date(Number(seconds) * 1000), payload: parse(bytes) };
}

const rawNeeded = 'Pass the raw body: the text, or the bytes, that arrived before anything parsed it.';

/** Callers without types may pass anything. */
function bytesOf(body: unknown): Uint8Array {
  if (typeof body === 'string') return encoder.encode(body);
  if (isArrayBuffer(body)) return new Uint8Array(body);
  if (!ArrayBuffer.isView(body)) throw new InvalidNotification('not_raw', rawNeeded);
  return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
}

/** Also accepts one of another realm, such as a frame or a test. */
function isArrayBuffer(body: unknown): body is ArrayBuffer {
  return Object.prototype.toString.call(body) === '[object ArrayBuffer]';
}

function checkAge(seconds: number): void {
  const age = Date.now() / 1000 - seconds;
  if (age > toleranceSeconds)
    throw new InvalidNotification(
      'too_old',
      'The notification is over five minutes old, or this clock is fast.',
    );
  if (age < -toleranceSeconds)
    throw new InvalidNotification(
      'too_new',
      'The notification is over five minutes early, or this clock is slow.',
    );
}

function header(headers: HeaderFields, name: string): string {
  const fields = headers ?? {};
  const value = isHeaders(fields) ? fields.get(name) : fieldOf(fields, name);
  if (typeof value === 'string' && value !== '') return value;
  throw new InvalidNotification('missing_header', `The notification has no header ${name}.`);
}

function isHeaders(headers: HeaderFields): headers is Headers {
  return typeof headers.get === 'function';
}

function fieldOf(headers: Record<string, string | readonly string[] | undefined>, name: string): unknown {
  const values = Object.entries(headers).flatMap(([field, value]) =>
    field.toLowerCase() === name ? [value ?? []].flat() : [],
  );
  return values.length === 1 ? values[0] : undefined;
}

/** A service signs with at most two keys; more signatures would only cost time. */
const maxSignatures = 8;

async function isSigned(content: Bytes, signatures: string, keys: readonly Verifier[]): Promise<boolean> {
  for (const signature of signatures.split(' ', maxSignatures)) {
    const [, encoded] = /^v1a,([A-Za-z0-9+/]{86}==)$/.exec(signature) ?? [];
    if (encoded === undefined) continue;
    for (const verifies of keys) if (await verifies(fromBase64(encoded), content)) return true;
  }
  return false;
}

type Bytes = Uint8Array<ArrayBuffer>;
type Verifier = (signature: Bytes, content: Bytes) => Promise<boolean>;

async function readKey(text: string): Promise<Verifier> {
  const [, encoded] = /^whpk_([A-Za-z0-9+/]{43}=)$/.exec(text) ?? [];
  if (encoded === undefined) throw new TypeError('A public key is whpk_ and 44 characters of base64.');
  const { subtle } = crypto;
  const key = await subtle.importKey('raw', fromBase64(encoded), 'Ed25519', false, ['verify']);
  return (signature, content) => subtle.verify('Ed25519', key, signature, content);
}

function fromBase64(text: string): Bytes {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function joined(first: Uint8Array, second: Uint8Array): Bytes {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

/** Signed by the service, so it has the fields that the service adds. */
function parse(bytes: Uint8Array): TaskNotification {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as TaskNotification;
  } catch {
    throw new InvalidNotification('not_json', "The notification isn't JSON.");
  }
}
