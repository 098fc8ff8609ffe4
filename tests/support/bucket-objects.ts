import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';

export async function readObject(key: string) {
  const { Body, ...headers } = await s3().send(new GetObjectCommand({ Bucket: bucketName(), Key: key }));
  return { headers, text: (await Body?.transformToString()) ?? '' };
}

/** A file of the index without its revision. */
export async function readIndexFile(key: string) {
  const { headers, text } = await readObject(key);
  const { revision: _, ...content } = JSON.parse(text);
  return { headers, content };
}

export async function keysBelow(prefix: string): Promise<string[]> {
  const listing = new ListObjectsV2Command({ Bucket: bucketName(), Prefix: prefix });
  const { Contents = [] } = await s3().send(listing);
  return Contents.map(({ Key = '' }) => Key).sort();
}
