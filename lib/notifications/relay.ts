import { randomBytes } from 'node:crypto';
import type { AttemptRecord } from '../attempts/attempt.ts';
import type { Answer } from '../answer.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import type { Contract } from '../contract.ts';
import { ApiError } from '../errors.ts';
import { note } from '../log.ts';
import { absent, present } from '../store/items.ts';
import { taskKey } from '../store/keys.ts';
import { deleting, putting, write } from '../store/write.ts';
import { owe } from '../work/lanes.ts';
import { type Caller, callerName } from '../caller.ts';
import { nameTask } from './task-results.ts';
import { readReceiverUrl, replaceOurUrl } from './notification-urls.ts';
import { firstPollAt, hashPrefix, statusKey, taskHash, type TaskRecord, ttlFrom } from './records.ts';

type Notifies = NonNullable<Contract['notifies']>;

const whatAddressMustBe =
  'must be an https address of at most 2,048 characters that the whole internet can reach, on port 443 or above 1023, without user and password: notifications have the URLs of results';

/** This many bytes can't be guessed, and make 43 characters. */
const secretBytes = 32;

/**
 * Gives the provider a URL of ours that only it knows: it is never stored or returned, so only it can report
 * the task's state. The response names the task's status URL, and the caller's own URL is notified.
 */
export class Relay {
  readonly #notifies: Notifies;
  /** The caller's own URL, if it wants notifications. */
  readonly #address: string | undefined;
  readonly #isOffPeak: boolean;
  /** Known only to the provider, and stored nowhere: its holder can report the task's state. */
  readonly #secret = randomBytes(secretBytes).toString('base64url');
  readonly taskHash = taskHash(this.#secret);
  readonly statusKey = statusKey(this.#secret);

  readonly #buyer: Caller | undefined;

  constructor(notifies: Notifies, body: object, buyer: Caller | undefined) {
    const fields = new Map<string, unknown>(Object.entries(body));
    const address = fields.get(notifies.field);
    this.#notifies = notifies;
    this.#buyer = buyer;
    this.#address = typeof address === 'string' ? address : undefined;
    this.#isOffPeak = fields.get('off_peak') === true;
  }

  /** The request for the provider. */
  redirected<Body>(body: Body): Body {
    const { field, provider } = this.#notifies;
    const baseUrl = config.relay().NOTIFICATION_URL.replace(/\/*$/, '');
    return { ...Object(body), [field]: `${baseUrl}/${provider}/${this.#secret}` };
  }

  /** Rejects a request before it costs anything if the caller's URL can't be notified. */
  requireReceiver(): void {
    if (this.#address === undefined || readReceiverUrl(this.#address)) return;
    const details = [{ path: `body.${this.#notifies.field}`, message: whatAddressMustBe }];
    throw new ApiError('invalid_request', { details });
  }

  /** Stores the task under the hash of its secret: the provider may notify before it responds, or not at all. */
  async record(context: Context, attempt: AttemptRecord): Promise<void> {
    const { caller, sk, request_id } = attempt;
    const now = Date.now();
    const record: TaskRecord = {
      ...taskKey(this.taskHash),
      at: new Date(now).toISOString(),
      provider: this.#notifies.provider,
      caller,
      address: this.#address,
      attempt: sk,
      request_id,
      status_key: this.statusKey,
      ...owe('poll', taskKey(this.taskHash), this.#notifies.provider, firstPollAt(now, this.#isOffPeak)),
      sequence: 0,
      revision: 1,
      ttl: ttlFrom(now),
    };
    note({ task_hash: hashPrefix(this.taskHash) });
    await write(context, putting(record, absent));
  }

  /** Lets the buyer ask for the task by the provider's id. Callers without a token are one, and can't. */
  async name(context: Context, taskId: string): Promise<void> {
    if (!this.#buyer || config.results().RESULT_ROUTES === 'off') return;
    const name = { caller: callerName(this.#buyer), provider: this.#notifies.provider, taskId };
    await nameTask(context, name, this.taskHash);
  }

  /** A task that was not started is no longer followed. If this is lost, the first poll sees it. */
  async forget(context: Context): Promise<void> {
    await write(context, deleting(taskKey(this.taskHash), present));
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
    return replaceOurUrl(text, this.#secret, this.#address);
  }
}
