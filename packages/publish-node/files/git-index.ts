import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Failure } from '../failure.ts';
import type { Effort } from './effort.ts';
import { readRepository, unreadable } from './git-folders.ts';

/*
 * The index of a repository: the files that git tracks, in versions 2 to 4, full or sparse. Its author may be an attacker,
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

/** Enough for a million files. */
const maxIndexBytes = 256_000_000;
/** Longer paths cannot be opened. */
const maxNameBytes = 4096;

/** The tracked files below a folder of the work tree, '' or ending in a slash. An absent index is empty. */
export async function readIndex(gitFolder: string, prefix: string, effort: Effort): Promise<Tracked[]> {
  const bytes = await readRepository(join(gitFolder, 'index'), maxIndexBytes);
  if (bytes === undefined) return [];
  effort.spend('indexBytes', bytes.length);
  const hashBytes = [32, 20].find((length) => hasChecksum(bytes, length));
  if (hashBytes === undefined) throw unreadable('the checksum of its index is wrong');
  try {
    return [...parse(bytes, hashBytes, Buffer.from(prefix), effort).values()];
  } catch (error) {
    // Reading beyond the end of a buffer throws.
    throw error instanceof Failure ? error : unreadable('its index is cut off or not valid');
  }
}

/** Whether the repository uses SHA-1 or SHA-256. Git writes zeros if it is configured to save time. */
function hasChecksum(bytes: Buffer, length: number): boolean {
  const checksum = bytes.subarray(-length);
  const hash = createHash(length === 32 ? 'sha256' : 'sha1').update(bytes.subarray(0, -length));
  return checksum.every((byte) => byte === 0) || hash.digest().equals(checksum);
}

function parse(bytes: Buffer, hashBytes: number, prefix: Buffer, effort: Effort): Map<string, Tracked> {
  const version = bytes.readUInt32BE(4);
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4)
    throw unreadable('its index has an unknown format');
  const entries = new Map<string, Tracked>();
  const name = Buffer.alloc(maxNameBytes);
  let [at, nameBytes] = [12, 0];
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
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
    if (name.subarray(0, Math.min(nameBytes, prefix.length)).equals(prefix) && nameBytes > prefix.length) {
      effort.spend('indexFiles', 1);
      effort.spend('indexNameBytes', nameBytes);
      const path = pathIn(name.toString('utf8', 0, nameBytes));
      if (isUnmerged)
        throw new Failure('usage', `${path} has a merge conflict. Resolve it, then git add it.`);
      entries.set(path, { path, object, kind: kindOf(mode), isSkipped });
    }
  }
  for (let length = 0; at < bytes.length - hashBytes; at += 8 + length) {
    const signature = bytes.toString('latin1', at, at + 4);
    length = bytes.readUInt32BE(at + 4);
    if (at + 8 + length > bytes.length - hashBytes) throw unreadable('its index is cut off');
    const isSplit =
      signature === 'link' && bytes.subarray(at + 8, at + 8 + hashBytes).some((byte) => byte > 0);
    if (isSplit) throw unreadable('its index is split. Join it: git update-index --no-split-index');
    if (/^[a-z]/.test(signature) && !['sdir', 'link'].includes(signature))
      throw unreadable('its index needs an extension that only a newer git knows');
  }
  return entries;

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
