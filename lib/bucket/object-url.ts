import { serviceHost } from '../aws/endpoints.ts';
import * as config from '../config.ts';

export function objectUrl(key: string): URL {
  const { AWS_ENDPOINT_URL_S3, AWS_REGION, BUCKET_NAME } = config.bucket();
  const path = encodedPath(key);
  return AWS_ENDPOINT_URL_S3
    ? new URL(`${BUCKET_NAME}/${path}`, `${AWS_ENDPOINT_URL_S3}/`)
    : new URL(`https://${BUCKET_NAME}.${serviceHost('s3', AWS_REGION)}/${path}`);
}

export function encodedPath(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/');
}
