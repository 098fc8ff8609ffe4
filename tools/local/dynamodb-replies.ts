import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';

/** As DynamoDB sends its errors: the type is in the body only, and clients verify a checksum if one is sent. */
export function fail(response: ServerResponse, kind: string, content: object): void {
  const error = { __type: `com.amazonaws.dynamodb.v20120810#${kind}`, ...content };
  const body = Buffer.from(JSON.stringify(error));
  response.writeHead(400, {
    'content-type': 'application/x-amz-json-1.0',
    'content-length': body.length,
    'x-amz-crc32': String(crc32(body)),
    'x-amzn-requestid': randomUUID(),
  });
  response.end(body);
}
