import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as config from '../config.ts';

export const tableName = () => config.registry().TABLE_NAME;

export const dynamodb = new DynamoDBClient({
  maxAttempts: 3,
  requestHandler: {
    connectionTimeout: 1000,
    requestTimeout: 5000,
    // Without this the SDK only warns of a request that takes longer than requestTimeout, and waits on.
    throwOnRequestTimeout: true,
  },
});

// It copies each request and each answer in case a logger wants them: a sixth of the time of 1,000 versions.
dynamodb.middlewareStack.remove('loggerMiddleware');
