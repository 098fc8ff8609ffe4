import { type Next, type S3Request, S3Refusal, type Store, sourceOf, targetOf } from './s3-request.ts';
import type { S3Versions } from './s3-versions.ts';

/** Gives each request a store that knows the versions it names, because the embedded S3 does not read them. */
export function s3VersionedStore(versions: S3Versions) {
  return async (request: S3Request, next: Next): Promise<void> => {
    request.store = Object.assign(Object.create(request.store), storeOf(request, versions));
    await next();
  };
}

function storeOf(request: S3Request, versions: S3Versions): Partial<Store> {
  const { store } = request;
  const [target, source] = [targetOf(request), sourceOf(request)];
  const find = async () => {
    const place = await versions.find(source ?? target);
    const header = source ? 'x-amz-copy-source-version-id' : 'x-amz-version-id';
    if (place) request.set(header, place.versionId);
    else if (target.versionId) throw new S3Refusal(404, 'NoSuchVersion', 'There is no such version.');
    return place;
  };
  const write = async <Result>(bucket: string, key: string, work: () => Promise<Result>) => {
    const { id, result } = await versions.write(bucket, key, work);
    request.set('x-amz-version-id', id);
    return result;
  };
  return {
    existsObject: async () => request.method === 'DELETE' || (await find()) !== undefined,
    async getObject(_bucket, _key, options) {
      const place = await find();
      return place ? store.getObject(place.bucket, place.key, options) : null;
    },
    putObject: (object) =>
      write(object.bucket, object.key, async () => {
        const stored = await store.putObject(object);
        checkDigest(request.get('content-md5'), stored.md5);
        return stored;
      }),
    async copyObject(_sourceBucket, _sourceKey, bucket, key, metadata) {
      const place = await find();
      if (!place) throw new S3Refusal(404, 'NoSuchKey', 'The specified key does not exist.');
      return write(bucket, key, () => store.copyObject(place.bucket, place.key, bucket, key, metadata));
    },
    async deleteObject() {
      request.set('x-amz-version-id', await versions.remove(target));
    },
  };
}

function checkDigest(stated: string, md5: string): void {
  if (stated === '') return;
  const digest = Buffer.from(stated, 'base64');
  if (digest.length !== 16) throw new S3Refusal(400, 'InvalidDigest', 'The Content-MD5 is no MD5.');
  if (digest.toString('hex') !== md5) {
    throw new S3Refusal(400, 'BadDigest', 'The Content-MD5 is not that of the body.');
  }
}
