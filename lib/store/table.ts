import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as config from '../config.ts';
import { freshAgents } from '../aws/agents.ts';

export const tableName = () => config.registry().TABLE_NAME;

export const dynamodb = new DynamoDBClient({
  // Only lib/store/retries.ts sends a call again: it knows which writes must not be, and until when it is worth it.
  retryStrategy: { retry: (send, call) => send(call) },
  // The SDK would sign by AWS's time from the second call on, but tokens, keys, days and upload URLs go by this clock.
  // AWS denies signatures that are five minutes off: so a function with a wrong clock does nothing, and logs why.
  disableClockSkewCorrection: true,
  requestHandler: {
    ...freshAgents(),
    connectionTimeout: 1000,
    requestTimeout: 2000,
    // Without this the SDK only warns of a request that takes longer than requestTimeout, and waits on.
    throwOnRequestTimeout: true,
  },
});

// It copies each request and each answer in case a logger wants them: 36 instead of 17 ms of a warm bulk of 1,000.
dynamodb.middlewareStack.remove('loggerMiddleware');
