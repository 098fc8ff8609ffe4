import { randomBytes } from 'node:crypto';
import { appendFileSync, constants, copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** One version of an object. A marker represents a deletion, and has no bytes. */
export interface Version {
  id: string;
  isMarker?: true;
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

/** What has become of a version, which is gone if it has none. */
interface Change {
  key: string;
  id: string;
  version?: Version;
}

/** The versions of each key. The last one is the current one. */
type Objects = Map<string, Version[]>;

/**
 * Objects on disk, as in a versioned bucket: a bucket is a folder with a file for the bytes of each version, and a
 * journal of all changes. Changes are synchronous, so that two requests never mix.
 */
export class S3Objects {
  readonly #directory: string;
  readonly #buckets = new Map<string, Objects>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  hasBucket(bucket: string): boolean {
    return /^[\w.-]+$/.test(bucket) && existsSync(join(this.#directory, bucket));
  }

  versionsOf({ bucket, key }: ObjectName): readonly Version[] {
    return this.#objectsOf(bucket).get(key) ?? [];
  }

  /** The current version, unless it is a marker. */
  current(name: ObjectName): Version | undefined {
    const last = this.versionsOf(name).at(-1);
    return last?.isMarker ? undefined : last;
  }

  /** The file for the bytes of a version, which readers see as soon as the version is put. */
  fileOf({ bucket }: ObjectName, id: string): string {
    return join(this.#directory, bucket, id);
  }

  /** Adds a version, or replaces the one with its id. */
  put({ bucket, key }: ObjectName, version: Version): void {
    this.#write(bucket, { key, id: version.id, version });
  }

  copy(source: ObjectName, version: Version, target: ObjectName, headers: Record<string, string>): Version {
    const { tags: _, ...untagged } = version;
    const copied = { ...untagged, id: newVersionId(), lastModified: new Date().toISOString(), headers };
    copyFileSync(this.fileOf(source, version.id), this.fileOf(target, copied.id), constants.COPYFILE_FICLONE);
    this.put(target, copied);
    return copied;
  }

  /** Deletes a version for good. */
  remove(name: ObjectName, id: string): void {
    this.#write(name.bucket, { key: name.key, id });
    rmSync(this.fileOf(name, id), { force: true });
  }

  /** The current objects of a bucket after a key, in the order of their keys. */
  list(bucket: string, prefix: string, after: string): (Version & { key: string })[] {
    const last = Buffer.from(after);
    return [...this.#objectsOf(bucket).keys()]
      .filter((key) => key.startsWith(prefix))
      .map((key) => ({ key, bytes: Buffer.from(key) }))
      .filter(({ bytes }) => Buffer.compare(bytes, last) > 0)
      .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
      .flatMap(({ key }) => {
        const version = this.current({ bucket, key });
        return version ? { key, ...version } : [];
      });
  }

  #objectsOf(bucket: string): Objects {
    let objects = this.#buckets.get(bucket);
    if (!objects) {
      objects = new Map();
      this.#buckets.set(bucket, objects);
      const file = this.#journalOf(bucket);
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
      for (const line of lines) apply(objects, JSON.parse(line));
    }
    return objects;
  }

  #write(bucket: string, change: Change): void {
    apply(this.#objectsOf(bucket), change);
    appendFileSync(this.#journalOf(bucket), `${JSON.stringify(change)}\n`);
  }

  #journalOf(bucket: string): string {
    return join(this.#directory, bucket, 'journal.jsonl');
  }
}

function apply(objects: Objects, { key, id, version }: Change): void {
  const versions = objects.get(key) ?? [];
  const place = versions.findIndex((each) => each.id === id);
  versions.splice(place < 0 ? versions.length : place, 1, ...(version ? [version] : []));
  objects.set(key, versions);
}

/** As long as S3's ids. */
export function newVersionId(): string {
  return randomBytes(24).toString('base64url');
}
