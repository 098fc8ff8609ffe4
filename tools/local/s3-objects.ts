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

/** One version of an object. */
export interface Version {
  id: string;
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
  /** The objects of each used bucket, by key. The last of an object's versions is the current one. */
  readonly #buckets = new Map<string, Map<string, Version[]>>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  hasBucket(bucket: string): boolean {
    return /^[\w.-]+$/.test(bucket) && existsSync(join(this.#directory, bucket));
  }

  versionsOf(name: ObjectName): readonly Version[] {
    return this.#history(name);
  }

  current(name: ObjectName): Version | undefined {
    return this.#history(name).at(-1);
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

  /** Deletes a version for good, if it exists. */
  remove(name: ObjectName, id: string): void {
    const kept = this.#history(name).filter((version) => version.id !== id);
    this.#write(name, kept);
    rmSync(join(this.#folder(name), id), { force: true });
  }

  /** The current objects of a bucket after a key, in the order of their keys. */
  *list(bucket: string, prefix: string, after: string): Generator<{ key: string; version: Version }> {
    const last = Buffer.from(after);
    const keys = [...this.#objectsOf(bucket).keys()]
      .filter((key) => key.startsWith(prefix))
      .map((key) => ({ key, bytes: Buffer.from(key) }))
      .filter(({ bytes }) => Buffer.compare(bytes, last) > 0)
      .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
    for (const { key } of keys) {
      const version = this.current({ bucket, key });
      if (version) yield { key, version };
    }
  }

  #objectsOf(bucket: string): Map<string, Version[]> {
    let objects = this.#buckets.get(bucket);
    if (!objects) {
      const directory = join(this.#directory, bucket);
      const folders = existsSync(directory) ? readdirSync(directory) : [];
      objects = new Map(folders.flatMap((folder) => historyIn(join(directory, folder))));
      this.#buckets.set(bucket, objects);
    }
    return objects;
  }

  #history({ bucket, key }: ObjectName): Version[] {
    return this.#objectsOf(bucket).get(key) ?? [];
  }

  #write(name: ObjectName, versions: Version[]): void {
    const folder = this.#folder(name);
    this.#objectsOf(name.bucket).set(name.key, versions);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'history.new'), JSON.stringify({ key: name.key, versions }));
    renameSync(join(folder, 'history.new'), join(folder, historyFile));
  }

  /** A key may be longer than a file name, and may contain characters that a file name must not. */
  #folder({ bucket, key }: ObjectName): string {
    return join(this.#directory, bucket, createHash('sha256').update(key).digest('hex'));
  }
}

function historyIn(folder: string): [key: string, versions: Version[]][] {
  const file = join(folder, historyFile);
  if (!existsSync(file)) return [];
  const { key, versions } = JSON.parse(readFileSync(file, 'utf8'));
  return [[key, versions]];
}

/** As long as S3's ids. */
export function newVersionId(): string {
  return randomBytes(24).toString('base64url');
}
