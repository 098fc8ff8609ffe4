import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Place, Store } from './s3-request.ts';

/** The folder of the versions that are no longer current. */
const shelf = '.versions';

/** The files that the embedded S3 has for each object. */
const resources = ['object', 'object.md5', 'metadata.json'];

interface Version {
  id: string;
  /** It marks a deletion and has no bytes. */
  isMarker: boolean;
}

/** An object's version, and where its bytes are. */
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

  /** Writes a new version; if that fails, the object stays as it was. */
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

  /** Without a version, adds a delete marker; otherwise deletes this version for good. Returns the id of either. */
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

  /** An object from before this server started has the id that S3 gives to objects from before versioning. */
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
      // A copied object has no digest file yet.
      await rename(source, target).catch(ignoreMissing);
    }
  }

  /** The store's own deletion also removes folders, to which another request may be writing. */
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
