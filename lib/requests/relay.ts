import type { Context } from '../context.ts';
import { randomBytes } from 'node:crypto';
import { downloadUrl } from '../bucket/object-keys.ts';
import type { Contract } from '../contract.ts';
import * as config from '../config.ts';
import { ApiError } from '../errors.ts';
import { note } from '../log.ts';
import { replaceOurUrl } from '../notifications/hidden-ticket.ts';
import { readReceiverUrl } from '../notifications/receiver-address.ts';
import { shownHash, type TaskRecord, ticketHash, ttlFrom, statusKey } from '../notifications/records.ts';
import { absent } from '../store/items.ts';
import { ticketKey } from '../store/keys.ts';
import { put } from '../store/write.ts';
import type { Answer, PaidRequest, Participant } from './run-request.ts';

type Notifies = NonNullable<Contract['notifies']>;

interface NewTask {
  operation: string;
  caller: string;
  /** The caller's own, if it wants to be notified. */
  address: string | undefined;
  /** The name of the usage record; known when it is recorded. */
  usageName: () => string | undefined;
  context: Context;
}

const whatAddressMustBe =
  'must be an https address of at most 2,048 characters that the whole internet can reach, on port 443 or above 1023, without user and password';

/** So many bytes cannot be guessed, and make 43 characters. */
const ticketBytes = 32;

/**
 * Gives the provider a URL of ours that only it knows: it is neither stored nor returned, so only the provider can report
 * the task's state. The response names the task's status URL, and the caller's own URL is notified.
 */
class Relay implements Participant {
  readonly name = 'notifications';
  readonly #notifies: Notifies;
  readonly #task: NewTask;
  readonly #ticket = randomBytes(ticketBytes).toString('base64url');

  constructor(notifies: Notifies, task: NewTask) {
    this.#notifies = notifies;
    this.#task = task;
  }

  /** The request as the provider gets it. */
  relayed(body: unknown): object {
    const { field, provider } = this.#notifies;
    const baseUrl = config.relay().NOTIFICATION_URL.replace(/\/*$/, '');
    return { ...Object(body), [field]: `${baseUrl}/${provider}/${this.#ticket}` };
  }

  /** Nothing is paid for if no notification could be sent to the caller's address. */
  async prepare(): Promise<undefined> {
    const { address } = this.#task;
    if (address === undefined || readReceiverUrl(address)) return;
    const details = [{ path: `body.${this.#notifies.field}`, message: whatAddressMustBe }];
    throw new ApiError('invalid_request', { details });
  }

  /** Names the task in all that is stored for it. */
  get ticketHash(): string {
    return ticketHash(this.#ticket);
  }

  /** The provider may notify before it answers. */
  async record(): Promise<void> {
    const { operation, caller, address, usageName, context } = this.#task;
    const now = Date.now();
    const record: TaskRecord = {
      ...ticketKey(this.ticketHash),
      at: new Date(now).toISOString(),
      provider: this.#notifies.provider,
      operation,
      caller,
      address,
      attempt: usageName(),
      sequence: 0,
      revision: 1,
      ttl: ttlFrom(now),
    };
    note({ ticket_hash: shownHash(this.ticketHash) });
    await put(context, record, absent);
  }

  /** Replaces our URL by the caller's wherever the provider repeats it. */
  inAnswer(answer: Answer): Answer {
    return { ...answer, body: this.#restored(answer.body) };
  }

  /** The same for what a provider says about a request that it did not take. */
  inError(error: ApiError): ApiError {
    const details = error.details.map((each) => ({ ...each, message: this.#restored(each.message) }));
    return error.with({ message: this.#restored(error.message), details });
  }

  #restored(text: string): string {
    return replaceOurUrl(text, this.#ticket, this.#task.address);
  }

  /** Where the task's status is shown (RFC 8288). */
  get taskHeaders(): Record<string, string> {
    return { link: `<${downloadUrl(statusKey(this.#ticket))}>; rel="status"` };
  }
}

/** Undefined for an operation without a task. */
export function relayOf(
  { notifies, name }: Contract,
  { caller, body, context }: PaidRequest,
  usageName: () => string | undefined,
): Relay | undefined {
  if (!notifies) return undefined;
  const address = new Map(Object.entries(Object(body))).get(notifies.field);
  const given = typeof address === 'string' ? address : undefined;
  return new Relay(notifies, { operation: name, caller, address: given, usageName, context });
}
