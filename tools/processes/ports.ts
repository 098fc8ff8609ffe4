import { type AddressInfo, connect, createServer, type Server } from 'node:net';

const loopback = '127.0.0.1';

/** Listens on a loopback port, by default a free one, and returns its number. */
export function listen(server: Server, port = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, loopback, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** For a program that must be given its port. */
export async function findFreePort(): Promise<number> {
  const probe = createServer();
  const port = await listen(probe);
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

export async function isPortFree(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    await listen(probe, port);
    return true;
  } catch {
    return false;
  } finally {
    probe.close();
  }
}

/** Whether a server accepts connections at an address, decided within the given time. */
export function isListening(address: string, timeoutMs: number): Promise<boolean> {
  const { hostname, port, protocol } = new URL(address);
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
      timeout: timeoutMs,
    });
    const finish = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', finish(true)).once('error', finish(false)).once('timeout', finish(false));
  });
}
