import startServers from '../../tests/support/start-servers.ts';
import stopServers from '../../tests/support/stop-servers.ts';
import { createTable } from '../local/dynamodb.ts';

/** Starts the servers of the tests on free ports, and points the environment at a table and a bucket in them. */
export async function openStores(): Promise<{ close: () => Promise<void> }> {
  await import('../../tests/support/environment.ts');
  await startServers();
  const { AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL_S3, TABLE_NAME, BUCKET_NAME } = process.env;
  await createTable(String(AWS_ENDPOINT_URL_DYNAMODB), String(TABLE_NAME));
  await fetch(`${AWS_ENDPOINT_URL_S3}/${BUCKET_NAME}`, { method: 'PUT' });
  return { close: stopServers };
}
