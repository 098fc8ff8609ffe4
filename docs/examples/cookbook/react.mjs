// React: one order from the first click until its film is there, or certainly is not.
import { RegistryError } from '@node-registry/registry-client/errors';
import { useRef, useState } from 'react';

export function useFilm(registry) {
  const order = useRef(undefined);
  const [shown, show] = useState({});
  async function make(prompt) {
    order.current ??= crypto.randomUUID();
    show({ isBusy: true });
    try {
      const film = await registry.videos.fromText({ prompt }, { order: order.current, wait: true });
      order.current = undefined;
      show({ url: film.media[0] });
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      // Otherwise the next click continues this order.
      if (!error.mayBeDone || error.code === 'order_expired') order.current = undefined;
      show({ problem: error.userMessage });
    }
  }
  return { ...shown, make };
}
