import type { Context } from '../context.ts';
import { downloadUrl } from '../bucket/object-keys.ts';
import type { Contract } from '../contract.ts';
import * as config from '../config.ts';
import { ApiError, boughtNothing } from '../errors.ts';
import { note } from '../log.ts';
import { readReceiverUrl, replaceOurUrl } from '../notifications/notification-urls.ts';
import { firstPollAt, hashPrefix, statusKey, type TaskRecord, ttlFrom } from '../notifications/records.ts';
import type { BoughtTask } from '../providers/provider-call.ts';
import { dueShard } from '../store/due.ts';
import { absent, present } from '../store/items.ts';
import { taskKey } from '../store/keys.ts';
import { put, remove, update } from '../store/write.ts';
import type { Answer, Attempt, RelayedTask } from './attempt.ts';

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
  readonly #task: RelayedTask;
  readonly #notifies: Notifies;
  /** The caller's own URL, if it wants notifications. */
  readonly #address: string | undefined;
  readonly #isOffPeak: boolean;
  #isRecorded = false;

  constructor(context: Context, attempt: Attempt, task: RelayedTask, notifies: Notifies, body: object) {
    const fields = new Map<string, unknown>(Object.entries(body));
    const address = fields.get(notifies.field);
    this.#context = context;
    this.#attempt = attempt;
    this.#task = task;
    this.#notifies = notifies;
    this.#address = typeof address === 'string' ? address : undefined;
    this.#isOffPeak = fields.get('off_peak') === true;
  }

  /** The request for the provider. */
  redirected<Body>(body: Body): Body {
    const { field, provider } = this.#notifies;
    const baseUrl = config.relay().NOTIFICATION_URL.replace(/\/*$/, '');
    return { ...Object(body), [field]: `${baseUrl}/${provider}/${this.#task.secret}` };
  }

  /** Rejects a request before it costs anything if the caller's URL can't be notified. */
  requireReceiver(): void {
    if (this.#address === undefined || readReceiverUrl(this.#address)) return;
    const details = [{ path: `body.${this.#notifies.field}`, message: whatAddressMustBe }];
    throw new ApiError('invalid_request', { details });
  }

  /** Stores the task under the hash of its secret: the provider may notify before it responds, or not at all. */
  async record(usageName: string): Promise<void> {
    const { operation, caller, requestId } = this.#attempt;
    const now = Date.now();
    this.#isRecorded = true;
    const record: TaskRecord = {
      ...taskKey(this.#task.hash),
      at: new Date(now).toISOString(),
      provider: this.#notifies.provider,
      operation,
      caller,
      address: this.#address,
      attempt: usageName,
      request_id: requestId,
      status_key: statusKey(this.#task.secret),
      pending_shard: dueShard('polls', this.#task.hash),
      pending_since: firstPollAt(now, this.#isOffPeak),
      sequence: 0,
      revision: 1,
      ttl: ttlFrom(now),
    };
    note({ task_hash: hashPrefix(this.#task.hash) });
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
    if (boughtNothing(error)) await remove(this.#context, taskKey(this.#task.hash), present);
    else await this.#end({ payment: 'unknown', task_id: taskId, credits });
  }

  async #end(changes: Pick<TaskRecord, 'payment' | 'task_id' | 'credits'>): Promise<void> {
    const ended_at = new Date().toISOString();
    await update<TaskRecord>(this.#context, taskKey(this.#task.hash), { ...changes, ended_at }, present);
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
    return replaceOurUrl(text, this.#task.secret, this.#address);
  }

  /** The URL of the task's public status (RFC 8288). */
  get taskHeaders(): Record<string, string> {
    return { link: `<${downloadUrl(statusKey(this.#task.secret))}>; rel="status"` };
  }
}
