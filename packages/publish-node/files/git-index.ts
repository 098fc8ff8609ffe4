import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Failure } from '../failure.ts';
import type { Effort } from './effort.ts';
import { readRepository, unreadable } from './git-folders.ts';

/*
 * The index of a repository: the files that git tracks, in versions 2 to 4, split or sparse. Its author may be an attacker,
 * so git doesn't read it: git would obey the configuration next to it, which can start programs.
 */

export interface Tracked {
  path: string;
  object: string;
  /** A sparse index names a folder that isn't checked out instead of its files. */
  kind: 'file' | 'submodule' | 'sparse folder';
  /** Git doesn't expect it in the folder, and reads its object instead. */
  isSkipped: boolean;
}

interface Index {
  /** By their position in the file; entries outside of the folder are missing. */
  entries: Map<number, Tracked>;
  count: number;
  /** Objects of entries without a name, which replace objects of the shared file. */
  replacements: string[];
  /** The file that a split index shares with others, and bitmaps of its deleted and replaced entries. */
  shared?: { name: string; bitmaps: Buffer };
}

/** Enough for a million files. */
const maxIndexBytes = 256_000_000;
/** Longer paths cannot be opened. */
const maxNameBytes = 4096;

/** The tracked files below a folder of the work tree, '' or ending in a slash. An absent index is empty. */
export async function readIndex(gitFolder: string, prefix: string, effort: Effort): Promise<Tracked[]> {
  try {
    const index = await indexIn(join(gitFolder, 'index'), prefix, effort);
    if (index === undefined) return [];
    const { entries, shared } = index;
    const isShared = shared !== undefined && !/^0*$/.test(shared.name);
    const base = isShared
      ? await indexIn(join(gitFolder, `sharedindex.${shared.name}`), prefix, effort)
      : index;
    if (base === undefined) throw unreadable('the shared part of its index is missing');
    if (isShared) changeShared(base, shared.bitmaps, index.replacements);
    const tracked = [...base.entries.values(), ...entries.values()];
    return [...new Map(tracked.map((entry) => [entry.path, entry])).values()];
  } catch (error) {
    // Reading beyond the end of a buffer throws.
    throw error instanceof Failure ? error : unreadable('its index is cut off or not valid');
  }
}

async function indexIn(path: string, prefix: string, effort: Effort): Promise<Index | undefined> {
  const bytes = await readRepository(path, maxIndexBytes);
  if (bytes === undefined) return undefined;
  effort.spend('indexBytes', bytes.length);
  const hashBytes = [32, 20].find((length) => hasChecksum(bytes, length));
  if (hashBytes === undefined) throw unreadable('the checksum of its index is wrong');
  return parse(bytes, hashBytes, Buffer.from(prefix), effort);
}

/** Whether the repository uses SHA-1 or SHA-256. Git writes zeros if it is configured to save time. */
function hasChecksum(bytes: Buffer, length: number): boolean {
  const checksum = bytes.subarray(-length);
  const hash = createHash(length === 32 ? 'sha256' : 'sha1').update(bytes.subarray(0, -length));
  return checksum.every((byte) => byte === 0) || hash.digest().equals(checksum);
}

function parse(bytes: Buffer, hashBytes: number, prefix: Buffer, effort: Effort): Index {
  const version = bytes.readUInt32BE(4);
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4)
    throw unreadable('its index has an unknown format');
  const index: Index = { entries: new Map(), count: bytes.readUInt32BE(8), replacements: [] };
  const name = Buffer.alloc(maxNameBytes);
  let [at, nameBytes] = [12, 0];
  for (let position = 0; position < index.count; position += 1) {
    const start = at;
    const mode = bytes.readUInt32BE(at + 24);
    const object = bytes.toString('hex', at + 40, at + 40 + hashBytes);
    at += 40 + hashBytes;
    const isUnmerged = (bytes.readUInt16BE(at) & 0x3000) !== 0;
    const isExtended = (bytes.readUInt16BE(at) & 0x4000) !== 0;
    const isSkipped = isExtended && (bytes.readUInt16BE(at + 2) & 0x4000) !== 0;
    at += isExtended ? 4 : 2;
    // Version 4 gives the prefix shared with the previous entry by the number of bytes that differ.
    const kept = version === 4 ? varint() : nameBytes;
    const end = bytes.indexOf(0, at);
    nameBytes = nameBytes - kept + end - at;
    if (end < 0 || kept > nameBytes + at + kept - end || nameBytes > maxNameBytes)
      throw unreadable('its index has a name that is too long or cut off');
    bytes.copy(name, nameBytes - (end - at), at, end);
    at = version === 4 ? end + 1 : start + ((end - start + 8) & ~7);
    if (nameBytes === 0) index.replacements.push(object);
    else if (
      name.subarray(0, Math.min(nameBytes, prefix.length)).equals(prefix) &&
      nameBytes > prefix.length
    ) {
      effort.spend('indexFiles', 1);
      effort.spend('indexNameBytes', nameBytes);
      const path = pathIn(name.toString('utf8', 0, nameBytes));
      if (isUnmerged)
        throw new Failure('usage', `${path} has a merge conflict. Resolve it, then git add it.`);
      index.entries.set(position, { path, object, kind: kindOf(mode), isSkipped });
    }
  }
  for (let length = 0; at < bytes.length - hashBytes; at += 8 + length) {
    const signature = bytes.toString('latin1', at, at + 4);
    length = bytes.readUInt32BE(at + 4);
    if (at + 8 + length > bytes.length - hashBytes) throw unreadable('its index is cut off');
    const content = bytes.subarray(at + 8, at + 8 + length);
    if (signature === 'link')
      index.shared = {
        name: content.toString('hex', 0, hashBytes),
        bitmaps: content.subarray(hashBytes),
      };
    else if (/^[a-z]/.test(signature) && signature !== 'sdir')
      throw unreadable('its index needs an extension that only a newer git knows');
  }
  return index;

  function varint(): number {
    let value = -1;
    let byte = 0x80;
    for (; byte & 0x80 && value < maxNameBytes; at += 1) {
      byte = bytes.readUInt8(at);
      value = (value + 1) * 128 + (byte & 0x7f);
    }
    return value;
  }
}

function kindOf(mode: number): Tracked['kind'] {
  const type = mode >>> 12;
  return type === 0o16 ? 'submodule' : type === 0o4 ? 'sparse folder' : 'file';
}

/** Git never writes such a path into an index. */
function pathIn(name: string): string {
  if (
    name
      .replace(/\/$/, '')
      .split('/')
      .some((part) => ['', '.', '..', '.git'].includes(part.toLowerCase()))
  )
    throw unreadable('its index has a path that leads out of the folder or into .git');
  return name;
}

/** Deletes and replaces entries of the file that a split index shares with others. */
function changeShared({ entries, count }: Index, bitmaps: Buffer, replacements: readonly string[]): void {
  const deleted = bitsIn(bitmaps, count);
  const replaced = bitsIn(bitmaps.subarray(deleted.end), count);
  for (const [at, position] of replaced.positions.entries()) {
    const [entry, object] = [entries.get(position), replacements[at]];
    if (entry && object !== undefined) entries.set(position, { ...entry, object });
  }
  for (const position of deleted.positions) entries.delete(position);
}

/** The set bits of a bitmap in git's EWAH format: runs of equal words, each before plain 64-bit words. */
function bitsIn(bytes: Buffer, count: number): { positions: number[]; end: number } {
  if (bytes.length === 0) return { positions: [], end: 0 };
  const positions: number[] = [];
  let [at, bit] = [8, 0];
  const end = at + bytes.readUInt32BE(4) * 8;
  const addWord = (word: bigint) => {
    if (bit >= count) throw unreadable('its split index names entries that do not exist');
    for (let place = 0; place < 64; place += 1) if ((word >> BigInt(place)) & 1n) positions.push(bit + place);
    bit += 64;
  };
  while (at < end) {
    const marker = bytes.readBigUInt64BE(at);
    const runWords = Number((marker >> 1n) & 0xffff_ffffn);
    if (marker & 1n) for (let word = 0; word < runWords; word += 1) addWord(~0n);
    else bit += runWords * 64;
    at += 8;
    for (let words = marker >> 33n; words > 0n; words -= 1n, at += 8) addWord(bytes.readBigUInt64BE(at));
  }
  return { positions, end: end + 4 };
}
