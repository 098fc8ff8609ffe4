import { RandomAccessReader } from 'yauzl';

/** The bytes of an archive, in any store. All reads of one file see the same bytes, or fail. */
export interface ArchiveFile {
  readonly sizeBytes: number;
  /** The bytes from `start` to `end`, excluding `end`. */
  read(start: number, end: number): Promise<Buffer>;
  /** All bytes, in order. */
  stream(): Promise<AsyncIterable<Uint8Array>>;
}

/** The zip reader asks for a few bytes at a time, so each read of the file fetches a whole window. */
const windowBytes = 256 * 1024;
const pieceBytes = 1024 * 1024;

/** The archive points the zip reader to bytes that the file doesn't have. */
export class OutsideFile extends Error {
  override readonly name = 'OutsideFile';
}

/** The header in front of an entry's data. */
export const localHeader = { signature: 0x04034b50, bytes: 30 } as const;

type Callback = (error: Error | null) => void;

/** Random access to an archive, also for the zip reader. Holds at most one window. */
export class ArchiveReader extends RandomAccessReader {
  /** The error if the file could not be read, as opposed to a problem with its content. */
  failure: unknown;
  readonly file: ArchiveFile;
  #window: Buffer = Buffer.alloc(0);
  #windowStart = 0;

  constructor(file: ArchiveFile) {
    super();
    this.file = file;
  }

  async bytesAt(position: number, length: number): Promise<Buffer> {
    const held = this.#held(position, length);
    if (held) return held;
    const end = Math.min(this.file.sizeBytes, position + Math.max(length, windowBytes));
    if (position + length > end) throw new OutsideFile('The position is outside of the file.');
    try {
      this.#window = await this.file.read(position, end);
    } catch (error) {
      this.failure = error;
      throw error;
    }
    this.#windowStart = position;
    return this.#window.subarray(0, length);
  }

  /** The bytes one after another, in pieces that take little memory. */
  async *piecesAt(position: number, length: number): AsyncGenerator<Buffer> {
    const end = position + length;
    for (let at = position; at < end; at += pieceBytes)
      yield await this.bytesAt(at, Math.min(pieceBytes, end - at));
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
