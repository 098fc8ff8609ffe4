import sample from '../../events/finalize-upload.json' with { type: 'json' };

/** S3's message about an object that was put, as in the sample event. Functions read only the key. */
export function uploadMessage(key: string): string {
  const message = JSON.parse(String(sample.Records[0]?.body));
  // S3 writes keys as forms do: percent-encoded, including plus signs, with + for a space.
  const encoded = new URLSearchParams({ key }).toString().slice('key='.length).replaceAll('%2F', '/');
  for (const { s3 } of message.Records) s3.object.key = encoded;
  return JSON.stringify(message);
}
