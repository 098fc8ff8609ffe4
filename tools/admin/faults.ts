import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { ApiError } from '../../lib/errors.ts';
import { Rejection } from './registry/administration.ts';
import { UsageError } from './command.ts';

/** A sentence for the person at the command line; undefined for an unknown error. */
export function sentenceFor(error: unknown): string | undefined {
  if (error instanceof UsageError || error instanceof Rejection) return error.message;
  if (error instanceof ApiError) {
    return error.code === 'unavailable'
      ? `The table cannot be reached or is overloaded: check the region (${process.env.AWS_REGION}) and the network, and try again.`
      : error.message;
  }
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'ResourceNotFoundException') {
    const place = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? `region ${process.env.AWS_REGION}`;
    return `There is no table ${process.env.TABLE_NAME} in ${place}.`;
  }
  if (error.name === 'CredentialsProviderError') {
    return 'There are no AWS credentials: sign in, set AWS_PROFILE, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.';
  }
  if (error instanceof DynamoDBServiceException) return `DynamoDB rejected the request: ${error.message}`;
  return sentenceForBucket(error);
}

const unreachable = [
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'TimeoutError'],
  // When the time of a request is up.
  'AbortError',
];

/** Recognized by its fields: only two commands need the S3 client, and DynamoDB's own errors have a sentence already. */
function sentenceForBucket(error: Error & { code?: unknown; $metadata?: unknown }): string | undefined {
  const { BUCKET_NAME, AWS_REGION } = process.env;
  const { httpStatusCode } = (error.$metadata ?? {}) as { httpStatusCode?: number };
  if (httpStatusCode !== undefined)
    return `The bucket ${BUCKET_NAME} answered ${httpStatusCode} (${error.name}): check its name, the region (${AWS_REGION}) and your rights.`;
  if (unreachable.includes(String(error.code ?? error.name)))
    return `The bucket ${BUCKET_NAME} cannot be reached: check the region (${AWS_REGION}) and the network, and try again.`;
  return undefined;
}

/** For an entry that failed while the others were done. */
export function textOf(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  return sentenceFor(error) ?? (error instanceof Error ? error.message : String(error));
}
