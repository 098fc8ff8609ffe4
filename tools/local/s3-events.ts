import { randomUUID } from 'node:crypto';
import type { S3Event } from 'aws-lambda';
import type { ObjectName, Version } from './s3-objects.ts';

/** S3 writes keys into its events as forms do: percent-encoded, including plus signs, with + for a space. */
export function encodeEventKey(key: string): string {
  return new URLSearchParams({ key }).toString().slice('key='.length).replaceAll('%2F', '/');
}

/** The event of an object that was put. */
export function createdEvent({ bucket, key }: ObjectName, { id, etag, sizeBytes }: Version): S3Event {
  const object = {
    key: encodeEventKey(key),
    size: sizeBytes,
    eTag: etag.replaceAll('"', ''),
    versionId: id,
    sequencer: process.hrtime.bigint().toString(16).toUpperCase(),
  };
  const s3 = {
    s3SchemaVersion: '1.0',
    configurationId: 'local',
    bucket: { name: bucket, ownerIdentity: { principalId: 'local' }, arn: `arn:aws:s3:::${bucket}` },
    object,
  };
  const record = {
    eventVersion: '2.1',
    eventSource: 'aws:s3',
    awsRegion: 'us-east-1',
    eventTime: new Date().toISOString(),
    eventName: 'ObjectCreated:Put',
    userIdentity: { principalId: 'local' },
    requestParameters: { sourceIPAddress: '127.0.0.1' },
    responseElements: { 'x-amz-request-id': randomUUID(), 'x-amz-id-2': randomUUID() },
    s3,
  };
  return { Records: [record] };
}
