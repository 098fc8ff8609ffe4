import { randomBytes } from 'node:crypto';
import type { Contract } from '../contract.ts';
import * as config from '../config.ts';
import { ApiError } from '../errors.ts';
import { describeError, log, note } from '../log.ts';
import { absent } from '../store/expressions.ts';
import { ticketKey } from '../store/keys.ts';
import { nothingSent } from '../store/nothing-sent.ts';
import { put } from '../store/write.ts';
import { hideTicket } from './hidden-ticket.ts';
import { readAddress } from './receiver-address.ts';
import { shownHash, type TaskRecord, ticketHash, ttlFrom } from './records.ts';

type Notifies = NonNullable<Contract['notifies']>;

interface NewTask {
  operation: string;
  caller: string;
  /** The caller's own. */
  address: string;
  deadline: number;
}

const whatAddressMustBe =
  'must be an https address of at most 2,048 characters that the whole internet can reach, on port 443 or above 1023, without user and password';

/** So many bytes cannot be guessed, and make 43 characters. */
const ticketBytes = 32;

/**
 * A paid request whose caller wants to be notified, by this service: the provider gets an address of ours that only
 * it can know. Nothing stored or answered has that address, so nobody but the provider can speak for the task.
 */
export class RelayedTask {
  readonly #notifies: Notifies;
  readonly #task: NewTask;
  readonly #ticket = randomBytes(ticketBytes).toString('base64url');

  constructor(notifies: Notifies, task: NewTask) {
    this.#notifies = notifies;
    this.#task = task;
  }

  /** A request as the provider gets it, unless no notification could be sent to the caller's address: nothing is paid. */
  relayed<Body>(body: Body): Body {
    if (!readAddress(this.#task.address)) {
      const details = [{ path: `body.${this.#notifies.field}`, message: whatAddressMustBe }];
      throw new ApiError('invalid_request', { details, payment: 'none' });
    }
    return { ...body, [this.#notifies.field]: this.#ourAddress };
  }

  /**
   * To be awaited before anything is sent: the provider may notify before it answers. `markSent` is written at the same
   * time, and waited for even if one fails, because what is done next depends on what is stored.
   */
  async open(attempt: string | undefined, markSent: () => Promise<void>): Promise<void> {
    const { operation, caller, address, deadline } = this.#task;
    const now = Date.now();
    const hash = ticketHash(this.#ticket);
    const record: TaskRecord = {
      ...ticketKey(hash),
      at: new Date(now).toISOString(),
      provider: this.#notifies.provider,
      operation,
      caller,
      address,
      attempt,
      sequence: 0,
      revision: 1,
      ttl: ttlFrom(now),
    };
    note({ ticket_hash: shownHash(hash) });
    const stored = put(record, absent, deadline).catch((error: unknown) => {
      throw nothingSent(error);
    });
    const writes = await Promise.allSettled([markSent(), stored]);
    const [first, second] = writes.flatMap((write) => (write.status === 'rejected' ? [write.reason] : []));
    if (second !== undefined) log('warn', 'second_failure', describeError(second));
    if (first !== undefined) throw first;
  }

  /** An answer with the caller's own address where the provider repeats ours. */
  inAnswer<Answer extends { body: string }>(answer: Answer): Answer {
    return { ...answer, body: this.#restored(answer.body) };
  }

  /** The same for what a provider says about a request that it did not take. */
  inError(error: unknown): unknown {
    if (!(error instanceof ApiError)) return error;
    const details = error.details.map(({ path, message }) => ({ path, message: this.#restored(message) }));
    return error.with({ message: this.#restored(error.message), details });
  }

  #restored(text: string): string {
    return hideTicket(text, this.#ticket, this.#task.address);
  }

  get #ourAddress(): string {
    const baseUrl = config.relay().NOTIFICATION_URL.replace(/\/*$/, '');
    return `${baseUrl}/${this.#notifies.provider}/${this.#ticket}`;
  }
}

/** Undefined where the caller wants no notifications. */
export function relayTask(
  { notifies, name }: Contract,
  caller: string,
  { body, deadline }: { body: unknown; deadline: number },
): RelayedTask | undefined {
  if (!notifies) return undefined;
  const address = new Map(Object.entries(Object(body))).get(notifies.field);
  if (typeof address !== 'string') return undefined;
  return new RelayedTask(notifies, { operation: name, caller, address, deadline });
}
