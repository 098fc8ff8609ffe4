import { buffer } from 'node:stream/consumers';

/** A stream of chunks, read in pieces of exact length; `watch` sees every byte of it once. */
export class ByteSource {
  /** How many bytes have been read. */
  position = 0;
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #watch: (chunk: Uint8Array) => void;
  #left: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>, watch: (chunk: Uint8Array) => void) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#watch = watch;
  }

  async *next(bytes: number): AsyncGenerator<Buffer> {
    for (let wanted = bytes; wanted > 0; ) {
      if (this.#left.length === 0 && !(await this.#fill())) throw new Error('The stream ended early.');
      const piece = this.#left.subarray(0, wanted);
      this.#left = this.#left.subarray(piece.length);
      this.position += piece.length;
      wanted -= piece.length;
      yield piece;
    }
  }

  async take(bytes: number): Promise<Buffer> {
    return buffer(this.next(bytes));
  }

  /** Reads all that is left. */
  async drain(): Promise<void> {
    do {
      this.position += this.#left.length;
    } while (await this.#fill());
  }

  /** Lets go of the stream, read to its end or not. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    this.#left = done ? Buffer.alloc(0) : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    this.#watch(this.#left);
    return !done;
  }
}
