import type { Context } from '../context.ts';
import { downloadUrl } from '../bucket/object-keys.ts';
import type { Contract } from '../contract.ts';
import * as config from '../config.ts';
import { ApiError, boughtNothing } from '../errors.ts';
import { note } from '../log.ts';
import { readReceiverUrl, replaceOurUrl } from '../notifications/notification-urls.ts';
import {
  firstQuestionAt,
  hashPrefix,
  statusKey,
  type TaskRecord,
  ttlFrom,
} from '../notifications/records.ts';
import type { BoughtTask } from '../providers/provider-call.ts';
import { dueShard } from '../store/due.ts';
import { absent, present } from '../store/items.ts';
import { ticketKey } from '../store/keys.ts';
import { put, remove, update } from '../store/write.ts';
import type { Answer, Attempt, Ticket } from './attempt.ts';

type Notifies = NonNullable<Contract['notifies']>;

const whatAddressMustBe =
  'must be an https address of at most 2,048 characters that the whole internet can reach, on port 443 or above 1023, without user and password: notifications have the URLs of results';

/**
 * Gives the provider a URL of ours that only it knows: it is never stored or returned, so only it can report
 * the task's state. The response names the task's status URL, and the caller's own URL is notified.
 */
export class Relay {
  readonly #context: Context;
  readonly #attempt: Attempt;
  readonly #ticket: Ticket;
  readonly #notifies: Notifies;
  /** The caller's own URL, if it wants notifications. */
  readonly #address: string | undefined;
  readonly #isOffPeak: boolean;
  #isRecorded = false;

  constructor(context: Context, attempt: Attempt, ticket: Ticket, notifies: Notifies, body: object) {
    const fields = new Map<string, unknown>(Object.entries(body));
    const address = fields.get(notifies.field);
    this.#context = context;
    this.#attempt = attempt;
    this.#ticket = ticket;
    this.#notifies = notifies;
    this.#address = typeof address === 'string' ? address : undefined;
    this.#isOffPeak = fields.get('off_peak') === true;
  }

  /** The request for the provider. */
  redirected<Body>(body: Body): Body {
    const { field, provider } = this.#notifies;
    const baseUrl = config.relay().NOTIFICATION_URL.replace(/\/*$/, '');
    return { ...Object(body), [field]: `${baseUrl}/${provider}/${this.#ticket.secret}` };
  }

  /** Rejects a request before it costs anything if the caller's URL can't be notified. */
  requireReceiver(): void {
    if (this.#address === undefined || readReceiverUrl(this.#address)) return;
    const details = [{ path: `body.${this.#notifies.field}`, message: whatAddressMustBe }];
    throw new ApiError('invalid_request', { details });
  }

  /** Stores the task under its ticket's hash: the provider may notify before it responds, or not at all. */
  async record(usageName: string): Promise<void> {
    const { operation, caller, requestId } = this.#attempt;
    const now = Date.now();
    this.#isRecorded = true;
    const record: TaskRecord = {
      ...ticketKey(this.#ticket.hash),
      at: new Date(now).toISOString(),
      provider: this.#notifies.provider,
      operation,
      caller,
      address: this.#address,
      attempt: usageName,
      request_id: requestId,
      status_key: statusKey(this.#ticket.secret),
      pending_shard: dueShard('unheard', this.#ticket.hash),
      pending_since: firstQuestionAt(now, this.#isOffPeak),
      sequence: 0,
      revision: 1,
      ttl: ttlFrom(now),
    };
    note({ ticket_hash: hashPrefix(this.#ticket.hash) });
    await put(this.#context, record, absent);
  }

  /** The request is answered, so its notifications may be delivered, and they name this task. */
  async taken(task: BoughtTask): Promise<void> {
    await this.#end({ payment: 'taken', task_id: task.taskId, credits: task.credits });
  }

  /** The same for a request that failed. A task that was not started is no longer followed. */
  async failed(error: ApiError): Promise<void> {
    if (!this.#isRecorded) return;
    const { taskId, credits } = error.task ?? {};
    if (boughtNothing(error)) await remove(this.#context, ticketKey(this.#ticket.hash), present);
    else await this.#end({ payment: 'unknown', task_id: taskId, credits });
  }

  async #end(changes: Pick<TaskRecord, 'payment' | 'task_id' | 'credits'>): Promise<void> {
    const ended_at = new Date().toISOString();
    await update<TaskRecord>(this.#context, ticketKey(this.#ticket.hash), { ...changes, ended_at }, present);
  }

  /** Replaces our URL by the caller's wherever the provider repeats it. */
  inAnswer(answer: Answer): Answer {
    return { ...answer, body: this.#restored(answer.body) };
  }

  /** The same in a provider's error. */
  inError(error: ApiError): ApiError {
    const details = error.details.map((each) => ({ ...each, message: this.#restored(each.message) }));
    return error.with({ message: this.#restored(error.message), details });
  }

  #restored(text: string): string {
    return replaceOurUrl(text, this.#ticket.secret, this.#address);
  }

  /** The URL of the task's public status (RFC 8288). */
  get taskHeaders(): Record<string, string> {
    return { link: `<${downloadUrl(statusKey(this.#ticket.secret))}>; rel="status"` };
  }
}
