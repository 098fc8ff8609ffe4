import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { type Context, untilDeadline } from '../context.ts';
import { bucketName, s3 } from './bucket.ts';

/** The ETags of the objects under each folder or key, by their keys. */
export async function listObjects(
  context: Context,
  root: string,
  names: readonly string[] = [''],
): Promise<Map<string, string>> {
  const etags = new Map<string, string>();
  for (const name of names) {
    let ContinuationToken: string | undefined;
    do {
      const command = new ListObjectsV2Command({
        Bucket: bucketName(),
        Prefix: root + name,
        ContinuationToken,
      });
      const { Contents = [], NextContinuationToken } = await s3().send(command, untilDeadline(context));
      for (const { Key = '', ETag = '' } of Contents) etags.set(Key, ETag);
      ContinuationToken = NextContinuationToken;
    } while (ContinuationToken);
  }
  return etags;
}
