/** A purchase by the name that its caller gave it. */
export interface OrderRecord {
  order: string;
  /** Its `Idempotency-Key`. */
  key: string;
  /** Of its request; empty on pages that came over plain http, where browsers have no digests. */
  digest: string;
  /** `sent` until the outcome is known. A `rejected` order has cost nothing, and may be sent again. */
  state: 'sent' | 'rejected' | 'started' | 'success' | 'failed';
  /** When it was first sent, in milliseconds since 1970. */
  sentAt: number;
  taskId?: string | undefined;
  /** A secret: whoever has it can see the task's result. */
  statusUrl?: string | undefined;
  credits?: number | undefined;
}

/** Keeps orders longer than a client. An error of `write` stops a purchase that was not sent yet. */
export interface OrderStore {
  read: (order: string) => OrderRecord | null | undefined | Promise<OrderRecord | null | undefined>;
  write: (record: OrderRecord) => unknown;
}

const maxInMemory = 10_000;

/** As long as its client. */
export function memory(): OrderStore {
  const records = new Map<string, OrderRecord>();
  return {
    read: (order) => records.get(order),
    write: (record) => {
      records.set(record.order, record);
      const [oldest] = records.keys();
      if (records.size > maxInMemory && oldest !== undefined) records.delete(oldest);
    },
  };
}
