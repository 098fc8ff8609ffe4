import { type AddressInfo, createServer, type Server } from 'node:net';

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

/** The system assigns ports above 32,767, and the stacks of the tests use those below 28,000. */
const portsOfWorker = 1000;
const firstPort = 28_000 + portsOfWorker * (Number(process.env.JEST_WORKER_ID ?? 0) % 4);
let next = Math.floor(Math.random() * portsOfWorker);

/** For a program that must be given its port: no other caller gets the port before that program listens. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < portsOfWorker; tries += 1) {
    next = (next + 1) % portsOfWorker;
    if (await isPortFree(firstPort + next)) return firstPort + next;
  }
  throw new Error(`No port from ${firstPort} on is free.`);
}

export async function isPortFree(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    await listen(probe, port);
    return true;
  } catch {
    return false;
  } finally {
    await new Promise((resolve) => probe.close(resolve));
  }
}
