import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { ApiError } from '../../lib/errors.ts';
import { Refusal } from './registry/refusal.ts';
import { UsageError } from './command.ts';

/** A sentence for the person at the command line; undefined for an unknown error. */
export function sentenceFor(error: unknown): string | undefined {
  if (error instanceof UsageError || error instanceof Refusal) return error.message;
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
  return undefined;
}
