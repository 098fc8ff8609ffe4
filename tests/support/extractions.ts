import type { SQSEvent } from 'aws-lambda';
import { archiveKey, type Upload } from '../../lib/bucket/object-keys.ts';
import { encodeEventKey } from '../../tools/local/s3-event-key.ts';
import { sampleEvent } from './invoke.ts';
import { sha256 } from './uploads.ts';

/** The message that names a published archive, made of the sample; received this often. */
export function extractionEvent(upload: Upload, archive: Buffer, receives = 1): SQSEvent {
  return eventForKey(archiveKey(upload, sha256(archive)), receives);
}

export function eventForKey(key: string, receives = 1): SQSEvent {
  const event = structuredClone(sampleEvent('extract-host-nodes')) as unknown as SQSEvent;
  for (const record of event.Records) {
    const body = JSON.parse(record.body);
    for (const { s3 } of body.Records) s3.object.key = encodeEventKey(key);
    record.body = JSON.stringify(body);
    record.attributes.ApproximateReceiveCount = String(receives);
  }
  return event;
}
