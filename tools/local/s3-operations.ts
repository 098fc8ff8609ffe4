import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { deniedTag } from '../../lib/bucket/bucket.ts';
import { checkedText, checkSums, element, store, tagsIn, xml } from './s3-bodies.ts';
import { accessDenied, noSuchKey, preconditionFailed, S3Error } from './s3-error.ts';
import { uploadMessage } from './s3-events.ts';
import { newVersionId, type S3Objects, type Version } from './s3-objects.ts';
import { isListing, isPublicRead, partOf, storedHeaders, type Target, targetOf } from './s3-requests.ts';
import { checkSignature } from './s3-signatures.ts';

/** Returns why the caller may not make a request, or may not list the bucket, if so. */
export type DenialOf = (request: IncomingMessage, isListing?: boolean) => string | undefined;

/** Readers get the denials of the bucket's policy for the distribution (infra/template/archives.yml). */
const isDenied = ({ tags }: Version) => tags?.[deniedTag.Key] === deniedTag.Value;

const maxListed = 1000;

export interface Answer {
  status: number;
  headers?: Record<string, string | undefined>;
  /** XML, or a part of a file. */
  body?: string | { file: string; start: number; end: number };
}

/** This project's operations, as strict as S3 about signatures, conditions, versions and checksums. */
export class S3 {
  readonly #objects: S3Objects;
  readonly #denialOf: DenialOf;
  readonly #onUpload: (message: string) => void;

  constructor(objects: S3Objects, denialOf: DenialOf, onUpload: (message: string) => void) {
    this.#objects = objects;
    this.#denialOf = denialOf;
    this.#onUpload = onUpload;
  }

  async answer(request: IncomingMessage): Promise<Answer> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const target = targetOf(url.pathname, url.searchParams);
    const digest = checkSignature(request, url);
    if (digest === undefined && !isPublicRead(request, target)) throw accessDenied('Access Denied');
    const denial = this.#denialOf(request);
    if (denial !== undefined) throw accessDenied(denial);
    if (!this.#objects.hasBucket(target.bucket))
      throw new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist.');
    if (target.key !== '' && url.searchParams.has('tagging')) return this.#tag(request, target);
    switch (target.key === '' ? `${request.method} bucket` : request.method) {
      case 'GET bucket':
        if (isListing(url.searchParams)) return this.#list(target, url.searchParams);
        break;
      case 'GET':
      case 'HEAD':
        return this.#read(request, target, digest === undefined);
      case 'PUT':
        return request.headers['x-amz-copy-source'] === undefined
          ? this.#put(request, url.searchParams, target, String(digest))
          : this.#copy(request, target);
      case 'DELETE':
        return this.#delete(target);
    }
    throw new S3Error(501, 'NotImplemented', 'The local S3 does not have this operation.');
  }

  #read(request: IncomingMessage, target: Target, isReader: boolean): Answer {
    const version = this.#find(target);
    if (isReader && isDenied(version)) throw new S3Error(403, 'AccessDenied', 'Access Denied');
    const headers = {
      ...version.headers,
      etag: version.etag,
      'last-modified': new Date(version.lastModified).toUTCString(),
      'accept-ranges': 'bytes',
      'x-amz-version-id': version.id,
    };
    const { 'if-match': wanted, 'if-none-match': known, range } = request.headers;
    if (wanted !== undefined && wanted !== '*' && wanted !== version.etag) throw preconditionFailed();
    if (known !== undefined && (known === '*' || known === version.etag)) return { status: 304, headers };
    const part = range === undefined ? undefined : partOf(range, version.sizeBytes);
    const { start, end } = part ?? { start: 0, end: version.sizeBytes };
    return {
      status: part ? 206 : 200,
      headers: {
        ...headers,
        'content-length': String(end - start),
        ...(part && { 'content-range': `bytes ${start}-${end - 1}/${version.sizeBytes}` }),
      },
      body: { file: this.#objects.fileOf(target, version.id), start, end },
    };
  }

  async #put(
    request: IncomingMessage,
    query: URLSearchParams,
    target: Target,
    digest: string,
  ): Promise<Answer> {
    const { 'content-length': length, 'content-encoding': encoding } = request.headers;
    if (length === undefined)
      throw new S3Error(411, 'MissingContentLength', 'You must provide the Content-Length HTTP header.');
    if (digest.startsWith('STREAMING-') || encoding?.includes('aws-chunked'))
      throw new S3Error(501, 'NotImplemented', 'The local S3 does not read bodies in signed chunks.');
    const id = newVersionId();
    const file = this.#objects.fileOf(target, id);
    try {
      const sums = await store(request, file);
      checkSums(request, query, digest, sums);
      this.#checkTarget(request, target);
      const headers = storedHeaders(request);
      const etag = `"${sums.md5.toString('hex')}"`;
      const lastModified = new Date().toISOString();
      const version = { id, etag, sizeBytes: sums.sizeBytes, lastModified, headers };
      this.#objects.put(target, version);
      // S3's events are late, and never part of the request.
      if (target.key.startsWith('staging/')) setImmediate(() => this.#onUpload(uploadMessage(target.key)));
      return { status: 200, headers: { etag, 'x-amz-version-id': id } };
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    }
  }

  #copy(request: IncomingMessage, target: Target): Answer {
    const [path = '', query = ''] = String(request.headers['x-amz-copy-source']).split('?');
    // Like S3, reads a plus as a space here.
    const source = targetOf(`/${path.replace(/^\//, '').replaceAll('+', '%20')}`, new URLSearchParams(query));
    const version = this.#find(source);
    this.#checkTarget(request, target);
    const copied = this.#objects.copy(source, version, target, storedHeaders(request));
    return {
      status: 200,
      headers: { 'x-amz-version-id': copied.id, 'x-amz-copy-source-version-id': version.id },
      body: xml('CopyObjectResult', { ETag: copied.etag, LastModified: copied.lastModified }),
    };
  }

  /** Tags belong to one version of an object, and change neither its bytes nor its ETag. */
  async #tag(request: IncomingMessage, target: Target): Promise<Answer> {
    const version = this.#find(target);
    const headers = { 'x-amz-version-id': version.id };
    switch (request.method) {
      case 'GET': {
        const tags = Object.entries(version.tags ?? {}).map(([Key, Value]) => element('Tag', { Key, Value }));
        const set = element('TagSet', {}, tags.join(''));
        return { status: 200, headers, body: xml('Tagging', {}, set) };
      }
      case 'PUT':
        this.#objects.put(target, { ...version, tags: tagsIn(await checkedText(request)) });
        return { status: 200, headers };
      case 'DELETE': {
        const { tags: _, ...untagged } = version;
        this.#objects.put(target, untagged);
        return { status: 204, headers };
      }
    }
    throw new S3Error(405, 'MethodNotAllowed', 'The specified method is not allowed against this resource.');
  }

  /** Without a version, adds a delete marker; otherwise deletes this version for good. */
  #delete(target: Target): Answer {
    const { versionId: id = newVersionId() } = target;
    const lastModified = new Date().toISOString();
    if (target.versionId !== undefined) this.#objects.remove(target, id);
    else this.#objects.put(target, { id, isMarker: true, etag: '', sizeBytes: 0, lastModified, headers: {} });
    return { status: 204, headers: { 'x-amz-version-id': id } };
  }

  #list({ bucket }: Target, query: URLSearchParams): Answer {
    const token = query.get('continuation-token');
    const after = token === null ? query.get('start-after') : Buffer.from(token, 'base64url').toString();
    const max = Math.min(maxListed, Number(query.get('max-keys') ?? maxListed));
    const found = this.#objects.list(bucket, query.get('prefix') ?? '', after ?? '');
    const listed = found.slice(0, max);
    const contents = listed.map(({ key, lastModified, etag, sizeBytes }) =>
      element('Contents', { Key: key, LastModified: lastModified, ETag: etag, Size: sizeBytes }),
    );
    const IsTruncated = found.length > max;
    const NextContinuationToken = Buffer.from(listed.at(-1)?.key ?? '').toString('base64url');
    const fields = { IsTruncated, ...(IsTruncated && { NextContinuationToken }) };
    return { status: 200, body: xml('ListBucketResult', fields, contents.join('')) };
  }

  #find(target: Target): Version {
    const { versionId } = target;
    if (versionId === undefined) {
      const current = this.#objects.current(target);
      if (!current) throw noSuchKey();
      return current;
    }
    const version = this.#objects.versionsOf(target).find(({ id }) => id === versionId);
    if (!version) throw new S3Error(404, 'NoSuchVersion', 'The specified version does not exist.');
    if (version.isMarker)
      throw new S3Error(405, 'MethodNotAllowed', 'The specified version is a delete marker.');
    return version;
  }

  /** The conditions of a write, checked right before it becomes visible. */
  #checkTarget({ headers }: IncomingMessage, target: Target): void {
    const current = this.#objects.current(target);
    const { 'if-match': wanted, 'if-none-match': unwanted } = headers;
    if (unwanted !== undefined && unwanted !== '*')
      throw new S3Error(501, 'NotImplemented', 'If-None-Match of a write takes only *.');
    if (unwanted === '*' && current) throw preconditionFailed();
    if (wanted === undefined) return;
    if (!current) throw noSuchKey();
    if (wanted !== '*' && wanted !== current.etag) throw preconditionFailed();
  }
}
