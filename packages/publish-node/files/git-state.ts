import { createHash } from 'node:crypto';

/** How a file differs from git's version; undefined if it doesn't. */
export type GitState = 'untracked' | 'modified' | undefined;

/**
 * Git would compare after running the repository's filters, which are programs. So this computes the object
 * itself: of the bytes, of the bytes with git's line ends, and of the Git LFS pointer.
 */
export function gitStateOf(content: Buffer, object: string | undefined): GitState {
  if (object === undefined) return 'untracked';
  const isObject = (bytes: Buffer) => objectOf(bytes, object.length) === object;
  if (isObject(content)) return undefined;
  if (content.includes('\r\n') && isObject(withUnixLineEnds(content))) return undefined;
  return isObject(lfsPointer(content)) ? undefined : 'modified';
}

function objectOf(bytes: Buffer, length: number): string {
  const hash = createHash(length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

function withUnixLineEnds(content: Buffer): Buffer {
  return Buffer.from(content.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
}

const lfsVersion = 'version https://git-lfs.github.com/spec/v1\n';

function lfsPointer(content: Buffer): Buffer {
  const digest = createHash('sha256').update(content).digest('hex');
  return Buffer.from(`${lfsVersion}oid sha256:${digest}\nsize ${content.length}\n`);
}

/** A file whose content Git LFS has not fetched. */
export function isLfsPointer(content: Buffer): boolean {
  return content.length < 1024 && content.subarray(0, lfsVersion.length).equals(Buffer.from(lfsVersion));
}
