import { createHash, randomBytes } from 'node:crypto';
import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** One version of an object. A marker represents a deletion, and has no bytes. */
export interface Version {
  id: string;
  isMarker: boolean;
  etag: string;
  sizeBytes: number;
  lastModified: string;
  /** The headers of a download, such as Content-Type. */
  headers: Record<string, string>;
  tags?: Record<string, string>;
}

export interface ObjectName {
  bucket: string;
  key: string;
}

const historyFile = 'history.json';

/**
 * Objects on disk, as in a versioned bucket: a bucket is a folder, and an object a folder in it, with one
 * file for each version and one that lists them. Changes are synchronous, so that two requests never mix.
 */
export class S3Objects {
  readonly #directory: string;
  /** The last of an object's versions is the current one. */
  readonly #histories = new Map<string, Version[]>();
  /** For buckets that were listed: the keys of all objects, including deleted ones. */
  readonly #keys = new Map<string, Set<string>>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  hasBucket(bucket: string): boolean {
    return /^[\w.-]+$/.test(bucket) && existsSync(join(this.#directory, bucket));
  }

  versionsOf(name: ObjectName): readonly Version[] {
    return this.#history(name);
  }

  /** The current version, unless it is a marker. */
  current(name: ObjectName): Version | undefined {
    const last = this.#history(name).at(-1);
    return last?.isMarker ? undefined : last;
  }

  /** The file for the bytes of a version, which readers see as soon as the version is added. */
  fileOf(name: ObjectName, id: string): string {
    const folder = this.#folder(name);
    mkdirSync(folder, { recursive: true });
    return join(folder, id);
  }

  add(name: ObjectName, version: Version): void {
    this.#write(name, [...this.#history(name), version]);
  }

  replace(name: ObjectName, version: Version): void {
    const versions = this.#history(name);
    this.#write(
      name,
      versions.map((each) => (each.id === version.id ? version : each)),
    );
  }

  copy(source: ObjectName, version: Version, target: ObjectName, headers: Record<string, string>): Version {
    const { tags: _, ...untagged } = version;
    const copied = { ...untagged, id: newVersionId(), lastModified: new Date().toISOString(), headers };
    copyFileSync(this.fileOf(source, version.id), this.fileOf(target, copied.id), constants.COPYFILE_FICLONE);
    this.add(target, copied);
    return copied;
  }

  /** Deletes a version for good. Returns it, if it existed. */
  remove(name: ObjectName, id: string): Version | undefined {
    const versions = this.#history(name);
    const removed = versions.find((version) => version.id === id);
    if (!removed) return undefined;
    this.#write(
      name,
      versions.filter((version) => version !== removed),
    );
    rmSync(join(this.#folder(name), id), { force: true });
    return removed;
  }

  /** The current objects of a bucket after a key, in the order of their keys. */
  *list(bucket: string, prefix: string, after: string): Generator<{ key: string; version: Version }> {
    const last = Buffer.from(after);
    const keys = [...this.#keysOf(bucket)]
      .filter((key) => key.startsWith(prefix))
      .map((key) => ({ key, bytes: Buffer.from(key) }))
      .filter(({ bytes }) => Buffer.compare(bytes, last) > 0)
      .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
    for (const { key } of keys) {
      const version = this.current({ bucket, key });
      if (version) yield { key, version };
    }
  }

  #keysOf(bucket: string): Set<string> {
    let keys = this.#keys.get(bucket);
    if (!keys) {
      const directory = join(this.#directory, bucket);
      keys = new Set(readdirSync(directory).flatMap((folder) => keyIn(join(directory, folder))));
      this.#keys.set(bucket, keys);
    }
    return keys;
  }

  #history(name: ObjectName): Version[] {
    const folder = this.#folder(name);
    let versions = this.#histories.get(folder);
    if (!versions) {
      const file = join(folder, historyFile);
      versions = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')).versions as Version[]) : [];
      this.#histories.set(folder, versions);
    }
    return versions;
  }

  #write(name: ObjectName, versions: Version[]): void {
    const folder = this.#folder(name);
    this.#histories.set(folder, versions);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'history.new'), JSON.stringify({ key: name.key, versions }));
    renameSync(join(folder, 'history.new'), join(folder, historyFile));
    this.#keys.get(name.bucket)?.add(name.key);
  }

  /** A key may be longer than a file name, and may contain characters that a file name must not. */
  #folder({ bucket, key }: ObjectName): string {
    return join(this.#directory, bucket, createHash('sha256').update(key).digest('hex'));
  }
}

function keyIn(folder: string): string[] {
  const file = join(folder, historyFile);
  return existsSync(file) ? [JSON.parse(readFileSync(file, 'utf8')).key] : [];
}

/** As long as S3's ids. */
export function newVersionId(): string {
  return randomBytes(24).toString('base64url');
}
