import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import type { S3Event } from 'aws-lambda';
import { deniedTag } from '../admin/registry/denied-archives.ts';
import { type HttpServer, startHttpServer } from '../processes/http-server.ts';
import { type CorsHeaders, corsHeaders, localCorsRules, preflightHeaders } from './cors-rules.ts';
import type { PublicRead } from './count-on-download.ts';
import { isLocalPage, localOnly } from './local-only.ts';
import { checkSignature, S3Error } from './s3-signatures.ts';
import { encodeEventKey } from './s3-event-key.ts';
import { newVersionId, type ObjectName, S3Objects, type Version } from './s3-objects.ts';

interface Server extends HttpServer {
  /** Called for every object that is put or copied, as S3 sends its events. */
  onObjectCreated: (listener: (event: S3Event) => void) => void;
  /** Called for every read without a signature, as the distribution writes its log. */
  onPublicRead: (listener: (read: PublicRead) => void) => void;
}

type Listener = (event: S3Event) => void;

/** Says why the caller of a request may not make it, or may not list what is in the bucket, if so. */
type DenialOf = (request: IncomingMessage, isListing?: boolean) => string | undefined;

/** Anyone may read the current objects under these: on a deployed stage the distribution serves them. */
const publicPrefixes = ['archives/', 'images/', 'index/', 'pages/', 'status/'];

/** What the bucket's policy denies to the distribution (infra/template/archives.yml), it denies to readers here. */
const isDenied = ({ tags }: Version) => tags?.[deniedTag.Key] === deniedTag.Value;

const maxKeyBytes = 1024;
const maxListed = 1000;

/**
 * Starts an S3 that keeps its objects in a directory, one folder for each bucket. It has the operations that this
 * project uses, and is as strict as S3 about signatures, conditions, versions and checksums; others are answered 501.
 */
export async function startS3(
  port: number,
  directory: string,
  bucketName = '',
  denialOf: DenialOf = () => undefined,
): Promise<Server> {
  for (const name of ['', bucketName, ...(bucketName === '' ? [] : [`${bucketName}-logs`])])
    await mkdir(`${directory}/${name}`, { recursive: true });
  const listeners: Listener[] = [];
  const readers: ((read: PublicRead) => void)[] = [];
  const rules = await localCorsRules();
  const s3 = new S3(new S3Objects(directory), denialOf, (event) => {
    for (const listener of listeners) listener(event);
  });
  const serve = localOnly(async (request, response) => {
    // By the clock that signatures are checked by, so that the SDK can set its own by it.
    response.setHeader('date', new Date().toUTCString());
    const cors = corsHeaders(rules, request);
    try {
      const answer =
        request.method === 'OPTIONS' ? preflight(preflightHeaders(rules, request)) : await s3.answer(request);
      await send(request, response, answer, cors);
      const read = publicReadOf(request, answer.status);
      if (read) for (const tell of readers) tell(read);
    } catch (error) {
      // A connection that broke off needs no answer.
      if (!(error instanceof S3Error) || response.headersSent) throw error;
      // S3 says that an object is not there only to those who may list what is.
      const hidden = error.code === 'NoSuchKey' ? denialOf(request, true) : undefined;
      const seen = hidden === undefined ? error : accessDenied(hidden);
      await send(request, response, toAnswer(seen), cors);
    }
  }, isLocalPage);
  const server = await startHttpServer(serve, port);
  return {
    ...server,
    onObjectCreated: (listener) => void listeners.push(listener),
    onPublicRead: (listener) => void readers.push(listener),
  };
}

interface Answer {
  status: number;
  headers?: Record<string, string | undefined>;
  /** XML, or a part of a file. */
  body?: string | { file: string; start: number; end: number };
}

interface Target extends ObjectName {
  versionId: string | undefined;
}

class S3 {
  readonly #objects: S3Objects;
  readonly #denialOf: DenialOf;
  readonly #onCreated: Listener;

  constructor(objects: S3Objects, denialOf: DenialOf, onCreated: Listener) {
    this.#objects = objects;
    this.#denialOf = denialOf;
    this.#onCreated = onCreated;
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
      const version = { id, isMarker: false, etag, sizeBytes: sums.sizeBytes, lastModified, headers };
      this.#objects.add(target, version);
      this.#tell('ObjectCreated:Put', target, version);
      return { status: 200, headers: { etag, 'x-amz-version-id': id } };
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    }
  }

  #copy(request: IncomingMessage, target: Target): Answer {
    const [path = '', query = ''] = String(request.headers['x-amz-copy-source']).split('?');
    // A plus is read as a blank here, as S3 does.
    const source = targetOf(`/${path.replace(/^\//, '').replaceAll('+', '%20')}`, new URLSearchParams(query));
    const version = this.#find(source);
    this.#checkTarget(request, target);
    const copied = this.#objects.copy(source, version, target, storedHeaders(request));
    this.#tell('ObjectCreated:Copy', target, copied);
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
        this.#objects.replace(target, { ...version, tags: tagsIn(await checkedText(request)) });
        return { status: 200, headers };
      case 'DELETE': {
        const { tags: _, ...untagged } = version;
        this.#objects.replace(target, untagged);
        return { status: 204, headers };
      }
    }
    throw new S3Error(405, 'MethodNotAllowed', 'The specified method is not allowed against this resource.');
  }

  /** Without a version, adds a delete marker; otherwise deletes this version for good. */
  #delete(target: Target): Answer {
    const marker: Version = {
      id: newVersionId(),
      isMarker: true,
      etag: '',
      sizeBytes: 0,
      lastModified: new Date().toISOString(),
      headers: {},
    };
    if (target.versionId === undefined) this.#objects.add(target, marker);
    const removed = target.versionId === undefined ? marker : this.#objects.remove(target, target.versionId);
    return {
      status: 204,
      headers: {
        'x-amz-version-id': removed?.id ?? target.versionId,
        ...(removed?.isMarker && { 'x-amz-delete-marker': 'true' }),
      },
    };
  }

  #list({ bucket }: Target, query: URLSearchParams): Answer {
    const prefix = query.get('prefix') ?? '';
    const token = query.get('continuation-token');
    const after =
      token === null ? (query.get('start-after') ?? '') : Buffer.from(token, 'base64url').toString();
    const max = Math.min(maxListed, Number(query.get('max-keys') ?? maxListed));
    const listed: { key: string; version: Version }[] = [];
    let isTruncated = false;
    for (const object of this.#objects.list(bucket, prefix, after)) {
      isTruncated = listed.length === max;
      if (isTruncated) break;
      listed.push(object);
    }
    const contents = listed.map(({ key, version }) =>
      element('Contents', {
        Key: key,
        LastModified: version.lastModified,
        ETag: version.etag,
        Size: version.sizeBytes,
      }),
    );
    const last = listed.at(-1);
    const fields = {
      IsTruncated: isTruncated,
      ...(isTruncated && last && { NextContinuationToken: Buffer.from(last.key).toString('base64url') }),
    };
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

  /** The conditions of a write, right before it becomes visible. */
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

  #tell(eventName: string, { bucket, key }: Target, { id, etag, sizeBytes }: Version): void {
    const object = {
      key: encodeEventKey(key),
      size: sizeBytes,
      eTag: etag.replaceAll('"', ''),
      versionId: id,
      sequencer: process.hrtime.bigint().toString(16).toUpperCase(),
    };
    const s3 = {
      s3SchemaVersion: '1.0',
      configurationId: 'local',
      bucket: { name: bucket, ownerIdentity: { principalId: 'local' }, arn: `arn:aws:s3:::${bucket}` },
      object,
    };
    const record = {
      eventVersion: '2.1',
      eventSource: 'aws:s3',
      awsRegion: 'us-east-1',
      eventTime: new Date().toISOString(),
      eventName,
      userIdentity: { principalId: 'local' },
      requestParameters: { sourceIPAddress: '127.0.0.1' },
      responseElements: { 'x-amz-request-id': randomUUID(), 'x-amz-id-2': randomUUID() },
      s3,
    };
    // S3's events are late, and never part of the request.
    setImmediate(() => this.#onCreated({ Records: [record] }));
  }
}

function targetOf(path: string, query: URLSearchParams): Target {
  const [, bucket = '', ...segments] = path.split('/');
  const key = segments.map(decodeURIComponent).join('/');
  if (Buffer.byteLength(key) > maxKeyBytes)
    throw new S3Error(400, 'KeyTooLongError', 'Your key is too long.');
  return { bucket, key, versionId: query.get('versionId') ?? undefined };
}

/** Of all keys, page by page. */
function isListing(query: URLSearchParams): boolean {
  const others = ['delimiter', 'encoding-type'].filter((name) => query.has(name));
  return query.get('list-type') === '2' && others.length === 0;
}

function publicReadOf(
  { method = '', url = '', headers }: IncomingMessage,
  status: number,
): PublicRead | undefined {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  if (headers.authorization !== undefined || searchParams.has('X-Amz-Signature')) return undefined;
  const [, start = '-'] = (status === 206 && /^bytes=(\d+)/.exec(headers.range ?? '')) || [];
  const stem = pathname.replace(/^\/[^/]*/, '');
  return { method, stem, status, agent: headers['user-agent'] ?? '-', rangeStart: start };
}

function isPublicRead({ method }: IncomingMessage, { key, versionId }: Target): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && versionId === undefined && publicPrefixes.some((prefix) => key.startsWith(prefix));
}

/** Undefined for a range that S3 ignores. */
function partOf(range: string, sizeBytes: number): { start: number; end: number } | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  if (from === '' && to === '') return undefined;
  const start = from === '' ? Math.max(0, sizeBytes - Number(to)) : Number(from);
  const end = from === '' || to === '' ? sizeBytes : Math.min(sizeBytes, Number(to) + 1);
  if (start >= sizeBytes || end <= start)
    throw new S3Error(416, 'InvalidRange', 'The requested range is not satisfiable');
  return { start, end };
}

interface Sums {
  sizeBytes: number;
  md5: Buffer;
  sha256: Buffer;
  crc32: Buffer;
}

async function store(request: IncomingMessage, file: string): Promise<Sums> {
  const [md5, sha256] = [createHash('md5'), createHash('sha256')];
  let [sizeBytes, crc] = [0, 0];
  const measure = new Transform({
    transform(chunk: Buffer, _, done) {
      for (const hash of [md5, sha256]) hash.update(chunk);
      crc = crc32(chunk, crc);
      sizeBytes += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(request, measure, createWriteStream(file));
  const crcBytes = Buffer.alloc(4);
  crcBytes.writeUInt32BE(crc);
  return { sizeBytes, md5: md5.digest(), sha256: sha256.digest(), crc32: crcBytes };
}

/** S3 takes tags only with a checksum of the body. */
async function checkedText(request: IncomingMessage): Promise<string> {
  const body = await buffer(request);
  const { 'x-amz-checksum-crc32': crc, 'content-md5': md5 } = request.headers;
  if (crc === undefined && md5 === undefined)
    throw new S3Error(400, 'InvalidRequest', 'Missing required header for this request: Content-MD5');
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  if (crc !== undefined && crc !== sum.toString('base64'))
    throw new S3Error(400, 'BadDigest', 'The crc32 is not that of the body.');
  return body.toString();
}

function tagsIn(text: string): Record<string, string> {
  const pairs = text.matchAll(/<Key>([^<]*)<\/Key><Value>([^<]*)<\/Value>/g);
  return Object.fromEntries([...pairs].map(([, key = '', value = '']) => [key, value]));
}

/** All digests that the request states, in its headers or in its signed URL, must match the body. */
function checkSums(request: IncomingMessage, query: URLSearchParams, digest: string, sums: Sums): void {
  const stated = (name: string) => request.headers[name] ?? query.get(name) ?? undefined;
  if (digest !== 'UNSIGNED-PAYLOAD' && digest !== sums.sha256.toString('hex'))
    throw new S3Error(400, 'XAmzContentSHA256Mismatch', 'The signed digest is not that of the body.');
  const md5 = stated('content-md5');
  if (md5 !== undefined && md5 !== sums.md5.toString('base64'))
    throw new S3Error(400, 'BadDigest', 'The Content-MD5 is not that of the body.');
  const crc = stated('x-amz-checksum-crc32');
  if (crc !== undefined && crc !== sums.crc32.toString('base64'))
    throw new S3Error(400, 'BadDigest', 'The crc32 is not that of the body.');
}

const keptHeaders = ['content-type', 'cache-control', 'content-encoding', 'content-disposition'];

function storedHeaders({ headers }: IncomingMessage): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name]) => keptHeaders.includes(name) || name.startsWith('x-amz-meta-'),
  );
  return { 'content-type': 'binary/octet-stream', ...Object.fromEntries(kept) } as Record<string, string>;
}

function preflight(headers: CorsHeaders | undefined): Answer {
  if (headers) return { status: 200, headers };
  throw new S3Error(403, 'AccessForbidden', 'CORSResponse: This CORS request is not allowed.');
}

function accessDenied(message: string): S3Error {
  return new S3Error(403, 'AccessDenied', message);
}

function noSuchKey(): S3Error {
  return new S3Error(404, 'NoSuchKey', 'The specified key does not exist.');
}

function preconditionFailed(): S3Error {
  return new S3Error(412, 'PreconditionFailed', 'A condition of the request does not hold.');
}

function toAnswer({ status, code, message }: S3Error): Answer {
  return { status, body: xml('Error', { Code: code, Message: message }) };
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers = {}, body }: Answer,
  cors: CorsHeaders,
): Promise<void> {
  for (const [name, value] of Object.entries({ 'x-amz-request-id': randomUUID(), ...cors, ...headers }))
    if (value !== undefined) response.setHeader(name, value);
  if (typeof body === 'string') response.setHeader('content-type', 'application/xml');
  response.statusCode = status;
  if (body === undefined || typeof body === 'string' || request.method === 'HEAD' || body.start === body.end)
    return void response.end(typeof body === 'string' ? body : undefined);
  await pipeline(createReadStream(body.file, { start: body.start, end: body.end - 1 }), response);
}

function xml(name: string, fields: Record<string, unknown>, more = ''): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element(name, fields, more)}`;
}

function element(name: string, fields: Record<string, unknown>, more = ''): string {
  const inner = Object.entries(fields).map(
    ([field, value]) => `<${field}>${escaped(String(value))}</${field}>`,
  );
  return `<${name}>${inner.join('')}${more}</${name}>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"\p{Cc}]/gu, (character) => `&#${character.charCodeAt(0)};`);
}
