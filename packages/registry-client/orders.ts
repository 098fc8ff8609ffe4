import { addFacts, jsonOf, sha256Of } from './request.ts';
import { memory, type OrderRecord, type OrderStore } from './order-store.ts';
import { RegistryError } from './registry-error.ts';

/** The service forgets a key after 24 hours, and would sell the order again. Clocks may differ. */
const keyMs = 23 * 3_600_000;
/** The registry removes a task's status after seven days. */
const statusMs = 7 * 24 * 3_600_000;

/**
 * The purchases of a client. An order's key is its name, so that two processes which don't know of each other
 * yet still send the same key.
 */
export class Orders {
  readonly #store: OrderStore;
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(store = memory()) {
    this.#store = store;
  }

  /** Runs `work` after all other work of this client for the same order. */
  async inTurn<Result>(
    order: string,
    signal: AbortSignal | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    for (let other = this.#underWay.get(order); other; other = this.#underWay.get(order))
      await endOf(other, signal);
    const own = work();
    this.#underWay.set(order, own);
    try {
      return await own;
    } finally {
      this.#underWay.delete(order);
    }
  }

  /** The record of an order that may have been bought; undefined if it can be bought. */
  async find(order: string, digest: string): Promise<OrderRecord | undefined> {
    const known = await this.#store.read(order);
    if (!known || known.state === 'rejected') return undefined;
    if (known.digest !== digest && known.digest !== '' && digest !== '')
      throw new RegistryError(
        'idempotency_mismatch',
        `The order ${order} was used for another request. Give another purchase another order.`,
      );
    return known;
  }

  /** Must succeed before the order is sent. */
  async write(record: OrderRecord): Promise<void> {
    await this.#store.write(record);
  }

  /** The purchase is over, and its caller must hear of it even if the store fails. */
  async note(record: OrderRecord): Promise<void> {
    await this.write(record).catch(() => {});
  }
}

/** Whether its status can still be read. */
export function hasStatus({ statusUrl, sentAt }: OrderRecord): boolean {
  return statusUrl !== undefined && Date.now() - sentAt < statusMs;
}

/** Sent again, it could be bought twice. */
export function requireLivingKey({ key, sentAt, taskId, statusUrl }: OrderRecord): void {
  if (Date.now() - sentAt < keyMs) return;
  const bought = taskId === undefined ? 'may have bought a task' : `bought the task ${taskId}`;
  const sentence = `This order was sent more than 23 hours ago and ${bought}. It is not sent again.`;
  const error = new RegistryError('order_expired', sentence, { idempotencyKey: key, taskId, statusUrl });
  throw addFacts(error, { mayBeDone: true });
}

/** Equal for equal requests, in whatever order their fields are. */
export async function digestOf(path: string, body: unknown): Promise<string> {
  // Without it, the service alone compares the requests.
  if (crypto.subtle === undefined) return '';
  return sha256Of(new TextEncoder().encode(`${path} ${jsonOf(sorted(body))}`));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field)]));
}

/** Ends with other work, whatever comes of it, or with the signal. */
function endOf(other: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal?.reason);
    if (signal?.aborted) return stop();
    signal?.addEventListener('abort', stop, { once: true });
    void other
      .catch(() => {})
      .then(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      });
  });
}
