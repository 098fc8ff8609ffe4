import { type Next, type S3Request, S3Refusal, targetOf } from './s3-request.ts';

/**
 * The embedded S3 checks a signature if there is one. S3 also rejects requests without a signature, and `x-amz-`
 * headers that the signature does not cover, because they could change what its owner has allowed. Published
 * archives are public; on a deployed stage a CDN serves them.
 */
export async function requireSignature(request: S3Request, next: Next): Promise<void> {
  if (request.method === 'OPTIONS') return next();
  const signed = signedHeaders(request);
  if (!signed) {
    if (isDownload(request)) return next();
    throw new S3Refusal(403, 'AccessDenied', 'Access Denied');
  }
  const unsigned = Object.keys(request.headers).filter(
    (name) => name.startsWith('x-amz-') && !signed.includes(name),
  );
  if (unsigned.length > 0) {
    throw new S3Refusal(403, 'AccessDenied', `Headers in the request are not signed: ${unsigned.join(', ')}`);
  }
  await next();
}

function signedHeaders({ query, headers }: S3Request): string[] | undefined {
  const inHeader = /SignedHeaders=([^,\s]+)/.exec(headers.authorization ?? '')?.[1];
  return (inHeader ?? query['X-Amz-SignedHeaders'])?.split(';');
}

function isDownload(request: S3Request): boolean {
  const { key, versionId } = targetOf(request);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  return isRead && key.startsWith('archives/') && versionId === undefined;
}
