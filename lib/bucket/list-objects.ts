import { type ListObjectsV2CommandInput, paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { type Context, untilDeadline } from '../context.ts';
import { bucketName, s3 } from './bucket.ts';

export function listPages(context: Context, range: ListObjectsV2CommandInput) {
  return paginateListObjectsV2({ client: s3() }, range, untilDeadline(context));
}

/** The ETags of the objects under each folder or key, by their keys. */
export async function listObjects(
  context: Context,
  root: string,
  names: readonly string[] = [''],
): Promise<Map<string, string>> {
  const etags = new Map<string, string>();
  for (const name of names)
    for await (const { Contents = [] } of listPages(context, { Bucket: bucketName(), Prefix: root + name }))
      for (const { Key = '', ETag = '' } of Contents) etags.set(Key, ETag);
  return etags;
}
