import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Place, Store } from './s3-request.ts';

/** Where the embedded S3 keeps what is no longer the current version of an object. */
const shelf = '.versions';

/** The files that the embedded S3 keeps of an object. */
const resources = ['object', 'object.md5', 'metadata.json'];

interface Version {
  id: string;
  /** It stands for a deletion and has no bytes. */
  isMarker: boolean;
}

/** An object's version, and where its bytes lie. */
interface Found {
  bucket: string;
  key: string;
  versionId: string;
}

/** Keeps every version of every object readable, as S3 does in a versioned bucket; the embedded S3 keeps one. */
export class S3Versions {
  readonly #store: Store;
  /** The last of an object's versions is the current one. */
  readonly #history = new Map<string, Version[]>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Without a version, the current one. */
  async find({ bucket, key, versionId }: Place): Promise<Found | undefined> {
    const versions = await this.#versionsOf(bucket, key);
    const current = versions.at(-1);
    const version = versionId === undefined ? current : versions.find(({ id }) => id === versionId);
    if (!version || version.isMarker) return undefined;
    return version === current
      ? { bucket, key, versionId: version.id }
      : { bucket: shelf, key: version.id, versionId: version.id };
  }

  /** Has a new version written; one that fails leaves the object as it was. */
  async write<Result>(
    bucket: string,
    key: string,
    work: () => Promise<Result>,
  ): Promise<{ id: string; result: Result }> {
    const versions = await this.#versionsOf(bucket, key);
    const current = versions.at(-1);
    await this.#shelve(bucket, key, current);
    const id = newId();
    try {
      const result = await work();
      versions.push({ id, isMarker: false });
      return { id, result };
    } catch (error) {
      await this.#delete(bucket, key);
      await this.#restore(bucket, key, current);
      throw error;
    }
  }

  /** Without a version a marker covers the object; otherwise this version is gone for good. Returns either's id. */
  async remove({ bucket, key, versionId }: Place): Promise<string> {
    const versions = await this.#versionsOf(bucket, key);
    const current = versions.at(-1);
    if (versionId === undefined) {
      await this.#shelve(bucket, key, current);
      const marker = { id: newId(), isMarker: true };
      versions.push(marker);
      return marker.id;
    }
    const index = versions.findIndex(({ id }) => id === versionId);
    const [removed] = index < 0 ? [] : versions.splice(index, 1);
    if (removed !== current) await this.#delete(shelf, versionId);
    else {
      await this.#delete(bucket, key);
      await this.#restore(bucket, key, versions.at(-1));
    }
    return versionId;
  }

  /** What lies there since before this server started has the id that S3 gives to what is older than versioning. */
  async #versionsOf(bucket: string, key: string): Promise<Version[]> {
    const path = `${bucket}/${key}`;
    let versions = this.#history.get(path);
    if (!versions) {
      versions = (await this.#store.existsObject(bucket, key)) ? [{ id: 'null', isMarker: false }] : [];
      this.#history.set(path, versions);
    }
    return versions;
  }

  async #shelve(bucket: string, key: string, version: Version | undefined): Promise<void> {
    if (version && !version.isMarker) await this.#move([bucket, key], [shelf, version.id]);
  }

  async #restore(bucket: string, key: string, version: Version | undefined): Promise<void> {
    if (version && !version.isMarker) await this.#move([shelf, version.id], [bucket, key]);
  }

  async #move(from: [bucket: string, key: string], to: [bucket: string, key: string]): Promise<void> {
    for (const resource of resources) {
      const [source, target] = [from, to].map((place) => this.#store.getResourcePath(...place, resource));
      if (!source || !target) continue;
      await mkdir(dirname(target), { recursive: true });
      // An object that was copied has no digest file yet.
      await rename(source, target).catch(ignoreMissing);
    }
  }

  /** Not the store's own deletion, which also removes folders that another request may be writing to. */
  async #delete(bucket: string, key: string): Promise<void> {
    for (const resource of resources) {
      await rm(this.#store.getResourcePath(bucket, key, resource), { force: true });
    }
  }
}

function newId(): string {
  return randomBytes(24).toString('base64url');
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
