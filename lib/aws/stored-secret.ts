import { calling, type Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { readSecret, type SecretUse } from './secret-store.ts';

export interface StoredSecret {
  read: (context: Context) => Promise<string>;
  /**
   * The secret may have been replaced, for example after a provider rejected it. The next request reads it again, and
   * keeps the old value if that fails. Anyone can send a wrong signature, which must not stop other requests while the
   * store is down.
   */
  forget: () => void;
}

const reference = /^(ssm|secretsmanager):(.+)$/;

/** The shortest interval between two reads after a rejection, so that a revoked key does not flood the store. */
const minRereadIntervalMs = 5000;
const readTimeoutMs = 3000;

/**
 * The secret that a variable contains or refers to, such as a provider's key. A reference is read while the function
 * loads, in parallel with everything else. If that fails, the request that needs the secret tries again.
 */
export function storedSecret(value: string, use: SecretUse = 'text'): StoredSecret {
  const [, store, name] = reference.exec(value) ?? [];
  if (store === undefined || name === undefined) return { read: async () => value, forget: () => {} };

  let reading: Promise<string> | undefined;
  let last: string | undefined;
  let readAt = 0;
  const readAgain = async (timeoutMs: number): Promise<string> => {
    try {
      last = await readSecret(store, name, use, timeoutMs);
    } catch (error) {
      if (last === undefined) throw error;
      log('warn', 'secret_kept', { secret: value, ...describeError(error) });
    }
    return last;
  };
  const begin = (timeoutMs: number): Promise<string> => {
    readAt = Date.now();
    reading = readAgain(timeoutMs);
    // The request that needs the secret gets the error. Until then, nothing may be waiting for it.
    reading.catch(() => {});
    return reading;
  };
  begin(readTimeoutMs);

  return {
    read: async (context) => {
      // A read that began before this request may have been interrupted while the function was frozen.
      const earlier = reading;
      const known = await earlier?.catch(() => undefined);
      if (known !== undefined) return known;
      // Another request may have begun a read in the meantime.
      const current =
        reading === undefined || reading === earlier
          ? begin(Math.min(readTimeoutMs, context.deadline - Date.now()))
          : reading;
      return calling(context, `secret ${value}`, () => current).catch((cause: unknown) => {
        throw cause instanceof ApiError ? cause : new ApiError('unavailable', { cause });
      });
    },
    forget: () => {
      if (Date.now() - readAt >= minRereadIntervalMs) reading = undefined;
    },
  };
}
