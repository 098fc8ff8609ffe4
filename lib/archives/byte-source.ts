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
