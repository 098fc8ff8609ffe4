import { crc32, deflateRawSync } from 'node:zlib';

/** One file of a hand-made zip. All fields but the first two are for inconsistent zips. */
export interface ZipFile {
  name: string | Buffer;
  data?: string | Buffer;
  method?: number;
  flags?: number;
  mode?: number;
  /** The low bits of the external attributes, as DOS defines them. */
  attributes?: number;
  /** The system that made it in the high byte, and the version of the format in the low one. */
  madeBy?: number;
  versionNeeded?: number;
  extra?: Buffer;
  comment?: string;
  /** The values in the directory, if they differ from the data. */
  states?: Stated & { offset?: number };
  /** The values in the header before the data, if they differ from the directory. */
  local?: {
    name?: string;
    crc32?: number;
    packedBytes?: number;
    bytes?: number;
    method?: number;
    flags?: number;
    versionNeeded?: number;
    signature?: number;
    extra?: Buffer;
  };
  packed?: Buffer;
  /** Bytes between this file's data and the next record. */
  after?: Buffer;
}

/** Flags of a file whose sizes follow its data. */
export const describedAfter = 0x808;

/** The sizes that follow a file's data. */
export function descriptor(file: ZipFile, lies: Stated = {}, isSigned = true): Buffer {
  const truth = statedOf(file);
  const fields = Buffer.alloc(16);
  fields.writeUInt32LE(0x08074b50, 0);
  fields.writeUInt32LE(lies.crc32 ?? truth.crc32, 4);
  fields.writeUInt32LE(lies.packedBytes ?? truth.packedBytes, 8);
  fields.writeUInt32LE(lies.bytes ?? truth.bytes, 12);
  return isSigned ? fields : fields.subarray(4);
}

/** A file as written by programs that do not know its sizes in advance. */
export function described(file: ZipFile, lies: Stated = {}, isSigned = true): ZipFile {
  return {
    flags: describedAfter,
    local: { crc32: 0, packedBytes: 0, bytes: 0 },
    ...file,
    after: descriptor(file, lies, isSigned),
  };
}

interface Stated {
  crc32?: number;
  bytes?: number;
  packedBytes?: number;
}

function packedOf({ method = 8, packed, data = '' }: ZipFile): Buffer {
  return packed ?? (method === 8 ? deflateRawSync(data) : Buffer.from(data));
}

function statedOf(file: ZipFile, packed = packedOf(file)): Required<Stated> {
  const { data = '', states } = file;
  return { crc32: crc32(data), packedBytes: packed.length, bytes: Buffer.byteLength(data), ...states };
}

interface ZipOptions {
  before?: Buffer;
  beforeDirectory?: Buffer;
  beforeEnd?: Buffer;
  after?: Buffer;
  comment?: string | Buffer;
  entryCount?: number;
  directoryOffset?: number;
  directoryBytes?: number;
  entriesOnDisk?: number;
  disk?: number;
  /** The directory lists the files in a different order from the data. */
  isListedBackwards?: boolean;
}

const utf8Names = 0x800;

/** Builds a zip byte by byte, so that tests can make zips that a library would not write. */
export function zip(files: ZipFile[], options: ZipOptions = {}): Buffer {
  const parts: Buffer[] = [];
  let position = 0;
  const append = (...buffers: Buffer[]) => {
    for (const buffer of buffers) {
      parts.push(buffer);
      position += buffer.length;
    }
  };
  append(options.before ?? Buffer.alloc(0));
  const headers = files.map((file) => {
    const offset = file.states?.offset ?? position;
    const { local, central, packed } = headersOf(file, offset);
    append(local, packed, file.after ?? Buffer.alloc(0));
    return central;
  });
  append(options.beforeDirectory ?? Buffer.alloc(0));
  const start = position;
  append(...(options.isListedBackwards ? headers.toReversed() : headers));
  const size = position - start;
  append(options.beforeEnd ?? Buffer.alloc(0));
  append(endRecord(start, size, files.length, options), options.after ?? Buffer.alloc(0));
  return Buffer.concat(parts);
}

function headersOf(file: ZipFile, offset: number) {
  const { method = 8, flags = utf8Names, extra = Buffer.alloc(0), versionNeeded = 20, local = {} } = file;
  const name = Buffer.from(file.name);
  const packed = packedOf(file);
  const { crc32: sum, packedBytes, bytes } = statedOf(file, packed);
  const localName = Buffer.from(local.name ?? name);

  const header = Buffer.alloc(30);
  header.writeUInt32LE(local.signature ?? 0x04034b50, 0);
  header.writeUInt16LE(local.versionNeeded ?? versionNeeded, 4);
  header.writeUInt16LE(local.flags ?? flags, 6);
  header.writeUInt16LE(local.method ?? method, 8);
  header.writeUInt32LE(local.crc32 ?? sum, 14);
  header.writeUInt32LE(local.packedBytes ?? packedBytes, 18);
  header.writeUInt32LE(local.bytes ?? bytes, 22);
  header.writeUInt16LE(localName.length, 26);
  const localExtra = local.extra ?? Buffer.alloc(0);
  header.writeUInt16LE(localExtra.length, 28);

  const comment = Buffer.from(file.comment ?? '');
  const central = Buffer.alloc(46);
  central.writeUInt32LE(0x02014b50, 0);
  central.writeUInt16LE(file.madeBy ?? 0x0314, 4);
  central.writeUInt16LE(versionNeeded, 6);
  central.writeUInt16LE(flags, 8);
  central.writeUInt16LE(method, 10);
  central.writeUInt32LE(sum, 16);
  central.writeUInt32LE(packedBytes, 20);
  central.writeUInt32LE(bytes, 24);
  central.writeUInt16LE(name.length, 28);
  central.writeUInt16LE(extra.length, 30);
  central.writeUInt16LE(comment.length, 32);
  central.writeUInt32LE((((file.mode ?? 0o100644) << 16) | (file.attributes ?? 0)) >>> 0, 38);
  central.writeUInt32LE(offset, 42);
  return {
    local: Buffer.concat([header, localName, localExtra]),
    packed,
    central: Buffer.concat([central, name, extra, comment]),
  };
}

function endRecord(start: number, size: number, entries: number, options: ZipOptions): Buffer {
  const comment = Buffer.from(options.comment ?? '');
  const record = Buffer.alloc(22);
  record.writeUInt32LE(0x06054b50, 0);
  record.writeUInt16LE(options.disk ?? 0, 4);
  record.writeUInt16LE(options.entriesOnDisk ?? options.entryCount ?? entries, 8);
  record.writeUInt16LE(options.entryCount ?? entries, 10);
  record.writeUInt32LE(options.directoryBytes ?? size, 12);
  record.writeUInt32LE(options.directoryOffset ?? start, 16);
  record.writeUInt16LE(comment.length, 20);
  return Buffer.concat([record, comment]);
}

/** The extra field that gives a file a name other than its plain one. */
export function unicodePath(name: string, plain: string | Buffer, version = 1): Buffer {
  const text = Buffer.from(name);
  const field = Buffer.alloc(9);
  field.writeUInt16LE(0x7075, 0);
  field.writeUInt16LE(5 + text.length, 2);
  field.writeUInt8(version, 4);
  field.writeUInt32LE(crc32(plain), 5);
  return Buffer.concat([field, text]);
}

/** The extra field that states sizes of 64 bits. */
export function zip64Sizes(...sizes: number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * sizes.length);
  field.writeUInt16LE(1, 0);
  field.writeUInt16LE(8 * sizes.length, 2);
  for (const [index, bytes] of sizes.entries()) field.writeBigUInt64LE(BigInt(bytes), 4 + 8 * index);
  return field;
}
