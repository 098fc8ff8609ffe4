import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { type Context, untilDeadline } from '../context.ts';
import { listPages, s3, statusOf } from './bucket.ts';

/* Objects of any bucket of the stage, such as the log bucket. */

interface Place {
  Bucket: string;
  Key: string;
}

export async function putJson(context: Context, where: Place, Body: string): Promise<void> {
  const command = new PutObjectCommand({ ...where, Body, ContentType: 'application/json' });
  await s3().send(command, untilDeadline(context));
}

export async function deleteAt(context: Context, where: Place): Promise<void> {
  await s3().send(new DeleteObjectCommand(where), untilDeadline(context));
}

export async function readBytes(context: Context, where: Place): Promise<Buffer | undefined> {
  try {
    const { Body } = await s3().send(new GetObjectCommand(where), untilDeadline(context));
    return Body && Buffer.from(await Body.transformToByteArray());
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

export async function* listKeys(
  context: Context,
  Bucket: string,
  Prefix: string,
  StartAfter?: string,
): AsyncGenerator<string> {
  for await (const { Contents = [] } of listPages(context, { Bucket, Prefix, StartAfter }))
    for (const { Key } of Contents) if (Key !== undefined) yield Key;
}
