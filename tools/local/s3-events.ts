import type { ObjectName } from './s3-objects.ts';

/** S3 writes keys into its events as forms do: percent-encoded, including plus signs, with + for a space. */
export function encodeEventKey(key: string): string {
  return new URLSearchParams({ key }).toString().slice('key='.length).replaceAll('%2F', '/');
}

/** The event of an object that was put; S3's has more about it. */
export function createdEvent({ bucket, key }: ObjectName) {
  const s3 = { bucket: { name: bucket }, object: { key: encodeEventKey(key) } };
  return { Records: [{ eventSource: 'aws:s3', eventName: 'ObjectCreated:Put', s3 }] };
}
