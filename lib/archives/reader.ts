import { RandomAccessReader } from 'yauzl';
import { readBytes, type StoredObject } from '../bucket/bucket.ts';

/** The zip reader asks for a few bytes at a time; each request to S3 brings the neighbourhood too. */
const windowBytes = 256 * 1024;

type Callback = (error: Error | null) => void;

/** Random access to an object for the zip reader, of which it never holds more than one window. */
export class ArchiveReader extends RandomAccessReader {
  /** What went wrong on the way to S3, to be told apart from what is wrong with the archive. */
  failure: unknown;
  readonly #object: StoredObject;
  #window: Buffer = Buffer.alloc(0);
  #windowStart = 0;

  constructor(object: StoredObject) {
    super();
    this.#object = object;
  }

  async bytesAt(position: number, length: number): Promise<Buffer> {
    const held = this.#held(position, length);
    if (held) return held;
    const end = Math.min(this.#object.sizeBytes, position + Math.max(length, windowBytes));
    if (position + length > end) throw new Error('position outside the file');
    try {
      this.#window = await readBytes(this.#object, position, end);
    } catch (error) {
      this.failure = error;
      throw error;
    }
    this.#windowStart = position;
    return this.#window.subarray(0, length);
  }

  override read(buffer: Buffer, offset: number, length: number, position: number, callback: Callback): void {
    const done = (bytes: Buffer) => {
      bytes.copy(buffer, offset);
      callback(null);
    };
    const held = this.#held(position, length);
    if (held) done(held);
    else this.bytesAt(position, length).then(done, callback);
  }

  #held(position: number, length: number): Buffer | undefined {
    const start = position - this.#windowStart;
    return start >= 0 && start + length <= this.#window.length
      ? this.#window.subarray(start, start + length)
      : undefined;
  }
}
