import { createStores } from '../../tests/support/create-stores.ts';
import startServers from '../../tests/support/start-servers.ts';
import stopServers from '../../tests/support/stop-servers.ts';

/** Starts the servers of the tests on free ports, and points the environment at a table and a bucket in them. */
export async function openStores(): Promise<{ close: () => Promise<void> }> {
  await import('../../tests/support/environment.ts');
  await startServers();
  await createStores(process.env);
  return { close: stopServers };
}
