import { setTimeout as pause } from 'node:timers/promises';
import { fail } from '../../tools/local/dynamodb-protocol.ts';
import { type Listener, readAll, relay, startReverseProxy } from '../../tools/local/reverse-proxy.ts';
import { count } from 'testing/property-runs';

/** `lost`: applied, but its answer never comes. `late`: the same, and applied only after its caller has gone on. */
const kinds = ['throttled', 'dropped', 'lost', 'late', 'slow'] as const;

interface Faults {
  url: string;
  /** The share of the calls that fail. */
  state: { share: number };
  /** Ends when the store has carried out all that it was sent. */
  stop: () => Promise<void>;
}

/** Stands in front of the store and lets its calls fail, as the network and DynamoDB do. */
export async function startStoreFaults(url: string, random: () => number): Promise<Faults> {
  const state = { share: 0 };
  const running = new Set<Promise<void>>();
  const exchange: Listener = async (request, response, origin) => {
    const body = await readAll(request);
    const send = async () => origin.send(request, { body });
    if (random() >= state.share) return relay(await send(), response);
    const kind = kinds[Math.floor(random() * kinds.length)] ?? 'slow';
    count(`store calls ${kind}`);
    const waitMs = 5 + random() * 60;
    switch (kind) {
      case 'throttled':
        return fail(response, 'ProvisionedThroughputExceededException', { message: 'Throttled.' });
      case 'slow':
        await pause(waitMs);
        return relay(await send(), response);
      case 'dropped':
        request.socket.destroy();
        return;
      case 'lost':
        (await send()).resume();
        request.socket.destroy();
        return;
      case 'late':
        request.socket.destroy();
        await pause(waitMs);
        (await send()).resume();
    }
  };
  const proxy = await startReverseProxy(url, (...args) => {
    const work = exchange(...args).finally(() => running.delete(work));
    running.add(work);
    return work;
  });
  const stop = async () => {
    while (running.size > 0) await Promise.allSettled(running);
    await proxy.stop();
  };
  return { ...proxy, state, stop };
}
