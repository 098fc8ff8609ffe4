import { rm } from 'node:fs/promises';
import { servers } from './start-servers.ts';

export default async function stopServers(): Promise<void> {
  await Promise.all(servers.running.map(({ stop }) => stop()));
  if (servers.directory !== '') await rm(servers.directory, { recursive: true, force: true });
}
