/** The bytes of an archive, wherever they are stored. All reads of one file see the same bytes, or fail. */
export interface ArchiveFile {
  readonly sizeBytes: number;
  /** The bytes from `start` to `end`, excluding `end`. */
  read(start: number, end: number): Promise<Buffer>;
  /** All bytes, in order. */
  stream(): Promise<AsyncIterable<Uint8Array>>;
}
