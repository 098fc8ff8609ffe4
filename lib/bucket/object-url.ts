import { serviceHost } from '../aws/endpoints.ts';
import * as concerns from '../concerns.ts';
import { readEnvironment } from '../environment.ts';

const { AWS_ENDPOINT_URL_S3, AWS_REGION, BUCKET_NAME } = readEnvironment(concerns.bucket);

export function objectUrl(key: string): URL {
  const path = encodedPath(key);
  return AWS_ENDPOINT_URL_S3
    ? new URL(`${BUCKET_NAME}/${path}`, `${AWS_ENDPOINT_URL_S3}/`)
    : new URL(`https://${BUCKET_NAME}.${serviceHost('s3', AWS_REGION)}/${path}`);
}

export function encodedPath(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/');
}
