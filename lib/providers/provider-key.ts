import { ApiError } from '../errors.ts';

export interface ProviderKey {
  read: (deadline: number) => Promise<string>;
  /** The provider does not take the key any more; the next request reads it anew. */
  forget: () => void;
}

const reference = /^(ssm|secretsmanager):(.+)$/;

/** A key that was refused is read anew at most this often, so that a revoked one does not flood the store. */
const rereadIntervalMs = 5000;
const readTimeoutMs = 3000;

/**
 * The key that a variable holds or refers to. A reference is read while the function loads, beside everything
 * else, and a read that failed is tried again by the request that needs it.
 */
export function providerKey(value: string): ProviderKey {
  const [, store, name] = reference.exec(value) ?? [];
  if (store === undefined || name === undefined) return { read: async () => value, forget: () => {} };

  let reading: Promise<string> | undefined;
  let readAt = 0;
  const begin = (timeoutMs: number): Promise<string> => {
    readAt = Date.now();
    const attempt = import('./secret-store.ts').then(({ readSecret }) => readSecret(store, name, timeoutMs));
    // Whoever needs the key learns of the failure; until then nobody may be waiting for it.
    attempt.catch(() => {});
    reading = attempt;
    return attempt;
  };
  begin(readTimeoutMs);

  return {
    read: async (deadline) => {
      // A read that began before this request may have been cut off while the function was frozen.
      const known = await reading?.catch(() => undefined);
      if (known !== undefined) return known;
      return begin(Math.min(readTimeoutMs, deadline - Date.now())).catch((cause: unknown) => {
        throw new ApiError('unavailable', { cause });
      });
    },
    forget: () => {
      if (Date.now() - readAt >= rereadIntervalMs) reading = undefined;
    },
  };
}
