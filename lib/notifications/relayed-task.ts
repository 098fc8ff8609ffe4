import { randomBytes } from 'node:crypto';
import type { Contract } from '../contract.ts';
import * as concerns from '../concerns.ts';
import { readEnvironment } from '../environment.ts';
import { ApiError } from '../errors.ts';
import { isObject } from '../json-object.ts';
import { absent } from '../store/expressions.ts';
import { ticketKey } from '../store/keys.ts';
import { nothingSent } from '../store/store-errors.ts';
import { put } from '../store/write.ts';
import { type TaskRecord, ticketHash, ttlFrom } from './records.ts';

type Notifies = NonNullable<Contract['notifies']>;

interface NewTask<Body> {
  operation: string;
  caller: string;
  body: Body;
  deadline: number;
}

const baseUrl = readEnvironment(concerns.relay).NOTIFICATION_URL.replace(/\/*$/, '');

/** So many bytes cannot be guessed, and make 43 characters. */
const ticketBytes = 32;

/** So few characters of a ticket give none away, and are found in no other text by chance. */
const recognizedLength = 12;

/**
 * A paid request whose caller wants to be notified, by this service: the provider gets an address of ours that only
 * it can know. Nothing stored or answered has that address, so nobody but the provider can speak for the task.
 */
export class RelayedTask<Body extends object> {
  readonly #notifies: Notifies;
  readonly #task: NewTask<Body>;
  readonly #address: string;
  readonly #ticket = randomBytes(ticketBytes).toString('base64url');

  constructor(notifies: Notifies, task: NewTask<Body>, address: string) {
    this.#notifies = notifies;
    this.#task = task;
    this.#address = address;
  }

  /** The request as the provider gets it. */
  get body(): Body {
    return { ...this.#task.body, [this.#notifies.field]: this.#ourAddress };
  }

  /** To be awaited before anything is sent: the provider may notify before it answers. */
  async open(attempt: string | undefined): Promise<void> {
    const { operation, caller, deadline } = this.#task;
    const now = Date.now();
    const record: TaskRecord = {
      ...ticketKey(ticketHash(this.#ticket)),
      at: new Date(now).toISOString(),
      provider: this.#notifies.provider,
      operation,
      caller,
      address: this.#address,
      attempt,
      sequence: 0,
      revision: 1,
      ttl: ttlFrom(now),
    };
    await put(record, absent, deadline).catch((error: unknown) => {
      throw nothingSent(error);
    });
  }

  /** JSON or another text for the caller, with the caller's own address where the provider repeats ours. */
  inText(text: string): string {
    const beginning = this.#ticket.slice(0, recognizedLength);
    if (!text.includes(beginning)) return text;
    return (
      text
        .replaceAll(this.#ourAddress, () => this.#address)
        // Error texts are shortened, and may end in the middle of our address.
        .replace(new RegExp(`${beginning}[\\w-]*`, 'g'), '…')
    );
  }

  /** The same for what a provider says about a request that it did not take. */
  inError(error: unknown): unknown {
    return error instanceof ApiError ? error.withTexts((text) => this.inText(text)) : error;
  }

  get #ourAddress(): string {
    return `${baseUrl}/${this.#notifies.provider}/${this.#ticket}`;
  }
}

interface Call<Body> {
  body: Body;
  deadline: number;
}

/** The task of a request; undefined where the caller wants no notifications. */
export function relayTask<Body>(
  { notifies, name }: Contract,
  caller: string,
  { body, deadline }: Call<Body>,
): RelayedTask<Body & object> | undefined {
  const address = notifies && isObject(body) ? body[notifies.field] : undefined;
  if (notifies === undefined || !isObject(body) || typeof address !== 'string') return undefined;
  return new RelayedTask(notifies, { operation: name, caller, body, deadline }, address);
}
