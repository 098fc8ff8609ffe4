import { randomInt } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { findFreePort } from '../processes/ports.ts';
import { startProcess } from '../processes/start-process.ts';
import type { Server } from './reverse-proxy.ts';

/** Starts the embedded DynamoDB on a free port, in memory unless a file is given. */
export async function startDynamoDb(file?: string, onEnd?: (sentence: string) => void): Promise<Server> {
  const [host, port] = [hiddenHost(), await findFreePort()];
  const { stop } = await startProcess({
    name: 'The embedded DynamoDB',
    command: findBinary(),
    args: ['--host', host, '--port', String(port), ...(file === undefined ? [] : ['--db-path', file])],
    readyText: 'listening',
    timeoutMs: 30_000,
    ...(onEnd && { onEnd }),
  });
  return { url: `http://${host}:${port}`, stop };
}

/**
 * The embedded server accepts requests from the pages of any site. They could find it by trying all ports of
 * 127.0.0.1, but not of a random loopback address. macOS has only the one address.
 */
function hiddenHost(): string {
  const part = () => randomInt(1, 255);
  return process.platform === 'darwin' ? '127.0.0.1' : `127.${part()}.${part()}.${part()}`;
}

function findBinary(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`@dynoxide/${platform}/package.json`);
    return join(dirname(manifest), process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide');
  } catch (cause) {
    const message = `There is no embedded DynamoDB for ${platform}: start another one, such as DynamoDB Local, and set AWS_ENDPOINT_URL_DYNAMODB to its address.`;
    throw new Error(message, { cause });
  }
}
