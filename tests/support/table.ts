import { beforeAll } from '@jest/globals';
import { createTable } from '../../tools/local/dynamodb.ts';

beforeAll(async () => {
  await createTable(String(process.env.AWS_ENDPOINT_URL_DYNAMODB), String(process.env.TABLE_NAME));
});
