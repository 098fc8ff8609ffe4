import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { S3Error } from './s3-error.ts';

/** The credentials of the local stack; serverless.yml and the administration use the same ones. */
const localKey = { id: 'LOCALACCESSKEY', secret: 'LOCALSECRETKEY' };

const maxSkewMs = 15 * 60_000;
const dateShape = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/**
 * Checks a request's Signature Version 4, in its headers or in its URL. Returns the signer's digest of the
 * body, or undefined if the request isn't signed. Like S3, it rejects `x-amz-` headers that the signature
 * doesn't cover, because they could change the signed request.
 */
export function checkSignature(request: IncomingMessage, url: URL): string | undefined {
  const stated = statedIn(request, url.searchParams);
  if (!stated) return undefined;
  const { credential, signedHeaders, signature, date, payload } = stated;
  const [id = '', day = '', region = '', service = '', end] = credential.split('/');
  // The tests append the name of the signing function.
  if (id.split('.')[0] !== localKey.id)
    throw new S3Error(403, 'InvalidAccessKeyId', 'The access key is not that of the local stack.');
  if (service !== 's3' || end !== 'aws4_request' || !date.startsWith(day))
    throw new S3Error(400, 'AuthorizationHeaderMalformed', 'The credential has another scope.');
  checkDate(stated);
  const headers = signedHeaders.split(';');
  const isCovered = (name: string) => headers.includes(name);
  const unsigned = Object.keys(request.headers).filter(
    (name) => (name.startsWith('x-amz-') || name === 'host') && !isCovered(name),
  );
  if (unsigned.length > 0)
    throw new S3Error(403, 'AccessDenied', `Headers in the request are not signed: ${unsigned.join(', ')}`);
  const canonical = [
    request.method,
    url.pathname.split('/').map(decodeURIComponent).map(encode).join('/'),
    canonicalQuery(url.searchParams),
    ...headers.map(
      (name) =>
        `${name}:${String(request.headers[name] ?? '')
          .trim()
          .replace(/ +/g, ' ')}`,
    ),
    '',
    signedHeaders,
    payload,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', date, scope, hash('sha256', canonical)].join('\n');
  const wanted = hmac(signingKey(scope), text).toString('hex');
  if (signature.length !== wanted.length || !timingSafeEqual(Buffer.from(signature), Buffer.from(wanted)))
    throw new S3Error(403, 'SignatureDoesNotMatch', 'The signature is not that of the request.');
  return payload;
}

interface StatedSignature {
  credential: string;
  signedHeaders: string;
  signature: string;
  date: string;
  /** Set for a signed URL. */
  expiresInSeconds: number | undefined;
  payload: string;
}

function statedIn({ headers }: IncomingMessage, query: URLSearchParams): StatedSignature | undefined {
  const payload = headers['x-amz-content-sha256'] ?? query.get('X-Amz-Content-Sha256');
  const { authorization } = headers;
  if (authorization !== undefined) {
    const [, credential = '', signedHeaders = '', signature = ''] =
      /^AWS4-HMAC-SHA256 Credential=([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=(\w+)$/.exec(
        authorization,
      ) ?? [];
    if (!signature || !payload)
      throw new S3Error(400, 'AuthorizationHeaderMalformed', 'The Authorization header is incomplete.');
    const date = String(headers['x-amz-date']);
    return {
      credential,
      signedHeaders,
      signature,
      date,
      expiresInSeconds: undefined,
      payload: String(payload),
    };
  }
  const [credential, signedHeaders, signature, date, expires] = [
    ...['X-Amz-Credential', 'X-Amz-SignedHeaders', 'X-Amz-Signature', 'X-Amz-Date', 'X-Amz-Expires'],
  ].map((name) => query.get(name));
  if (!signature) return undefined;
  if (!credential || !signedHeaders || !date || !expires)
    throw new S3Error(400, 'AuthorizationQueryParametersError', 'The signed URL is incomplete.');
  const expiresInSeconds = Number(expires);
  return { credential, signedHeaders, signature, date, expiresInSeconds, payload: 'UNSIGNED-PAYLOAD' };
}

function checkDate({ date, expiresInSeconds }: StatedSignature): void {
  const signed = Date.parse(date.replace(dateShape, '$1-$2-$3T$4:$5:$6Z'));
  const age = Date.now() - signed;
  if (!(Math.abs(age) <= maxSkewMs || (expiresInSeconds !== undefined && age > 0)))
    throw new S3Error(403, 'RequestTimeTooSkewed', 'The request was signed at another time.');
  if (expiresInSeconds !== undefined && age > expiresInSeconds * 1000)
    throw new S3Error(403, 'AccessDenied', 'Request has expired');
}

function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
}

/** Percent-encodes all but RFC 3986's unreserved characters. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hmac(key: string | Buffer | KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

let known: { scope: string; key: KeyObject } | undefined;

/** Deriving it takes longer than the rest of the check, and it changes once a day. */
function signingKey(scope: string): KeyObject {
  if (known?.scope === scope) return known.key;
  const derived = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${localKey.secret}`);
  known = { scope, key: createSecretKey(Buffer.from(derived)) };
  return known.key;
}
