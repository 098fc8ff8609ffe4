import { queueAt } from '../aws/queue.ts';
import { decodeKey } from '../bucket/object-keys.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { isObject } from '../json.ts';

/*
 * The queue of archives to read. S3 fills it, when an archive is published, and the sweep, with those whose reading is
 * due again. Everything else is in the record of the version, so a message may come twice, late or never.
 */

/** The redrive policy of the queue in infra/template/extractions.yml. */
export const maxReceives = 3;

const send = queueAt(() => config.extractionQueue().EXTRACTION_QUEUE_URL);

/** Sends up to ten messages; throws unless the queue has taken them all. */
export function enqueueArchives(context: Context, keys: readonly string[]): Promise<void> {
  return send(
    context,
    keys.map((key) => ({ body: { key } })),
  );
}

/** The keys that a message names: none if it is the one with which S3 tests the queue. */
export function archiveKeysOf(body: string): string[] {
  const content: unknown = JSON.parse(body);
  const { key, Records, Event } = isObject(content) ? content : {};
  if (typeof key === 'string') return [key];
  if (Event === 's3:TestEvent') return [];
  if (!Array.isArray(Records)) throw new Error('A queue message does not name an archive.');
  return Records.map((record) => decodeKey(String(record?.s3?.object?.key)));
}
