/** The bytes of an archive, wherever they lie. All reads of one file see the same bytes, or fail. */
export interface ArchiveFile {
  readonly sizeBytes: number;
  /** The bytes from `start` up to, not including, `end`. */
  read(start: number, end: number): Promise<Buffer>;
  /** All bytes, first to last. */
  stream(): Promise<AsyncIterable<Uint8Array>>;
}
