import { createHook } from 'node:async_hooks';

interface ConnectRequest {
  address?: string;
  port?: number;
}

const requests: ConnectRequest[] = [];

/** Every TCP connection that this process begins, below anything that could hide one: `TCPCONNECTWRAP` is libuv's own. */
const hook = createHook({
  init: (_, type, __, resource) => {
    if (type === 'TCPCONNECTWRAP') requests.push(resource);
  },
});

/** Where `work` began a connection to, as address and port. */
export async function connectionsOf(work: () => Promise<unknown>): Promise<string[]> {
  requests.length = 0;
  hook.enable();
  try {
    await work();
  } finally {
    hook.disable();
  }
  return requests.map(({ address, port }) => `${address} ${port}`);
}
