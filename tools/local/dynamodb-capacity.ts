/** What DynamoDB bills for an item: a unit for each kilobyte that was begun. */
const unitBytes = 1024;
/** What a partition key takes in a second. */
export const unitsPerSecond = 1000;

type Value = Record<string, unknown>;

/**
 * The write units of each item, as DynamoDB bills them: a write costs the whole item, however little of it changes. A
 * limit on what one partition key takes in a second can be enforced; what is over is throttled and billed nothing.
 */
export class WriteCapacity {
  readonly #limit: number;
  readonly #sizes = new Map<string, number>();
  readonly #buckets = new Map<string, { units: number; at: number }>();
  /** The billed units and the writes of each item, by the name that the front gives it. */
  readonly billed = new Map<string, { units: number; writes: number; maxBytes: number }>();
  throttled = 0;

  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  /** Whether there is capacity for another write of an item; it is taken then. */
  take(item: string, partition: string, now = performance.now()): boolean {
    if (this.#limit === Number.POSITIVE_INFINITY) return true;
    const units = this.#unitsOf(item);
    const bucket = this.#buckets.get(partition) ?? { units: this.#limit, at: now };
    const filled = Math.min(this.#limit, bucket.units + ((now - bucket.at) * this.#limit) / 1000);
    const hasRoom = filled >= units;
    this.#buckets.set(partition, { units: hasRoom ? filled - units : filled, at: now });
    if (!hasRoom) this.throttled += 1;
    return hasRoom;
  }

  /** Bills a write that was made, by the item as it is afterwards. */
  bill(item: string, attributes: Value | undefined): void {
    const bytes = sizeOf(attributes ?? {});
    // A write is billed by the larger of the item before and after it.
    const units = Math.max(this.#unitsOf(item), Math.ceil(bytes / unitBytes));
    this.#sizes.set(item, bytes);
    const { units: sum, writes, maxBytes } = this.billed.get(item) ?? { units: 0, writes: 0, maxBytes: 0 };
    this.billed.set(item, {
      units: sum + units,
      writes: writes + 1,
      maxBytes: Math.max(maxBytes, bytes),
    });
  }

  #unitsOf(item: string): number {
    return Math.max(1, Math.ceil((this.#sizes.get(item) ?? 0) / unitBytes));
  }
}

/** The size that DynamoDB documents: names and values in UTF-8, a number by its digits, a list or map with 3 bytes. */
function sizeOf(attributes: Value): number {
  return Object.entries(attributes).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + sizeOfValue(value as Value),
    0,
  );
}

function sizeOfValue({ S, N, B, BOOL, L, M }: Value): number {
  if (typeof S === 'string') return Buffer.byteLength(S);
  if (typeof N === 'string') return Math.ceil(N.replace(/[-.]/g, '').length / 2) + 1;
  if (typeof B === 'string') return Buffer.from(B, 'base64').length;
  if (BOOL !== undefined) return 1;
  if (Array.isArray(L)) return 3 + L.reduce((sum, value) => sum + 1 + sizeOfValue(value), 0);
  return 3 + Object.keys(M ?? {}).length + sizeOf((M ?? {}) as Value);
}
