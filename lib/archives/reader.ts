import { RandomAccessReader } from 'yauzl';
import type { ArchiveFile } from './archive-file.ts';

/** The zip reader asks for a few bytes at a time, so each read of the file fetches a whole window. */
const windowBytes = 256 * 1024;

/** The archive points the zip reader to bytes that it does not have. */
export class OutsideFile extends Error {
  override readonly name = 'OutsideFile';
}

const localHeaderBytes = 30;

/** Where the data of an entry begins whose local header is at `offset`. */
export async function dataStart(reader: ArchiveReader, offset: number): Promise<number> {
  const header = await reader.bytesAt(offset, localHeaderBytes);
  return offset + localHeaderBytes + header.readUInt16LE(26) + header.readUInt16LE(28);
}

type Callback = (error: Error | null) => void;

/** Random access to an archive for the zip reader. Holds at most one window. */
export class ArchiveReader extends RandomAccessReader {
  /** The error if the file could not be read, in contrast to a problem with its content. */
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
