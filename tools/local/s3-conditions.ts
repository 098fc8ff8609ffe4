import { type Next, type Place, type S3Request, S3Refusal, sourceOf, targetOf } from './s3-request.ts';
import type { S3Versions } from './s3-versions.ts';

/**
 * The embedded S3 supports no condition other than `If-None-Match` on a read, and lets two writes of one object mix.
 * This runs before it: it answers the other conditions as S3 does, and lets a request wait for the write before it.
 */
export function s3Conditions(versions: S3Versions) {
  const turns = new Map<string, Promise<void>>();
  return async (request: S3Request, next: Next): Promise<void> => {
    const [target, source] = [targetOf(request), sourceOf(request)];
    const proceed = async () => {
      const tagOf = (place: Place) => currentTag(request, versions, place);
      await checkConditions(request, tagOf, target, source);
      await next();
    };
    const paths = [target, ...(source ? [source] : [])].map(({ bucket, key }) => `${bucket}/${key}`);
    const turn = Promise.all(paths.map((path) => turns.get(path))).then(proceed);
    if (!['PUT', 'POST', 'DELETE'].includes(request.method)) return turn;
    const settled = turn.catch(() => {});
    for (const path of paths) turns.set(path, settled);
    await turn.finally(() => {
      for (const path of paths) if (turns.get(path) === settled) turns.delete(path);
    });
  };
}

type TagOf = (place: Place) => Promise<string | undefined>;

async function checkConditions(
  request: S3Request,
  tagOf: TagOf,
  target: Place,
  source: Place | undefined,
): Promise<void> {
  if (request.method === 'PUT' && request.get('if-none-match') === '*' && (await tagOf(target))) {
    throw failed();
  }
  await checkMatch(request.get('if-match'), () => tagOf(target));
  if (source) await checkMatch(request.get('x-amz-copy-source-if-match'), () => tagOf(source));
}

async function checkMatch(wanted: string, tagOf: () => Promise<string | undefined>): Promise<void> {
  if (wanted === '') return;
  const tag = await tagOf();
  if (tag === undefined) throw new S3Refusal(404, 'NoSuchKey', 'The specified key does not exist.');
  if (wanted !== '*' && wanted !== tag) throw failed();
}

/** Undefined if the object, or this version of it, does not exist. */
async function currentTag(
  { store }: S3Request,
  versions: S3Versions,
  place: Place,
): Promise<string | undefined> {
  const found = await versions.find(place);
  return found && (await store.getMetadata(found.bucket, found.key)).etag;
}

function failed(): S3Refusal {
  return new S3Refusal(412, 'PreconditionFailed', 'A condition of the request does not hold.');
}
