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

/** The archive points the zip reader to bytes that the file doesn't have. */
export class OutsideFile extends Error {
  override readonly name = 'OutsideFile';
}

/** The header in front of an entry's data. */
export const localHeader = { signature: 0x04034b50, bytes: 30 } as const;

type Callback = (error: Error | null) => void;

/** Random access to an archive for the zip reader. Holds at most one window. */
export class ArchiveReader extends RandomAccessReader {
  /** The error if the file could not be read, as opposed to a problem with its content. */
  failure: unknown;
  readonly #file: ArchiveFile;
  #window: Buffer = Buffer.alloc(0);
  #windowStart = 0;

  constructor(file: ArchiveFile) {
    super();
    this.#file = file;
  }

  async bytesAt(position: number, length: number): Promise<Buffer> {
    const held = this.#held(position, length);
    if (held) return held;
    const end = Math.min(this.#file.sizeBytes, position + Math.max(length, windowBytes));
    if (position + length > end) throw new OutsideFile('The position is outside of the file.');
    try {
      this.#window = await this.#file.read(position, end);
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

/** A stream of chunks, read in pieces of exact length. `watch` sees every byte once. */
export class ByteSource {
  /** The number of bytes read so far. */
  position = 0;
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #watch: (chunk: Uint8Array) => void;
  #left: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>, watch: (chunk: Uint8Array) => void) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#watch = watch;
  }

  /** The next bytes as they arrive, so that a piece of any length takes no more memory than a chunk. */
  async *next(bytes: number): AsyncGenerator<Buffer> {
    for (let wanted = bytes; wanted > 0; ) {
      if (this.#left.length === 0 && !(await this.#readChunk())) throw new Error('The stream ended early.');
      const piece = this.#cut(Math.min(wanted, this.#left.length));
      wanted -= piece.length;
      yield piece;
    }
  }

  /** The next bytes in one piece, which is copied only if it crosses the end of a chunk. */
  async take(bytes: number): Promise<Buffer> {
    if (bytes <= this.#left.length) return this.#cut(bytes);
    const pieces: Buffer[] = [];
    for await (const piece of this.next(bytes)) pieces.push(piece);
    return Buffer.concat(pieces, bytes);
  }

  /** Reads the rest of the stream. */
  async drain(): Promise<void> {
    do {
      this.#cut(this.#left.length);
    } while (await this.#readChunk());
  }

  /** Releases the stream, whether or not it was read to its end. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  #cut(bytes: number): Buffer {
    const piece = this.#left.subarray(0, bytes);
    this.#left = this.#left.subarray(bytes);
    this.position += bytes;
    return piece;
  }

  async #readChunk(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    this.#left = done ? Buffer.alloc(0) : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    this.#watch(this.#left);
    return !done;
  }
}
