// A shop: a paid order makes a film, also if the server stopped in between.
import { openOrders, registry } from './registry.mjs';

/** Call it when an order is paid, as often as you like. */
export async function deliver(order, prompt, show) {
  const { media, credits } = await registry.videos.fromText({ prompt }, { order, wait: true });
  show({ order, media, credits });
}

/** Call it after a start. `promptOf` reads the shop's own order, `report` tells a person. */
export async function goOn(promptOf, show, report) {
  for (const order of openOrders())
    await deliver(order, promptOf(order), show).catch((error) => report(order, error));
}
