import { FetchError, WaitPeriodNotYetEndedJwkError } from 'aws-jwt-verify/error';
import { SimpleJwksCache } from 'aws-jwt-verify/jwk';
import { httpRequest } from '../outgoing/http-request.ts';

const refetchIntervalMs = 10_000;

/**
 * The key sets of issuers. A set is fetched for an unknown key, at most once per interval, so that made-up key ids
 * cannot flood an issuer. Known keys keep working while an issuer is down.
 */
export class KeySets {
  readonly #blockedUntil = new Map<string, number>();
  readonly #down = new Set<string>();

  readonly cache = new SimpleJwksCache({
    fetcher: { fetch: (address) => this.#fetch(address) },
    penaltyBox: {
      wait: async (address) => {
        if (Date.now() < (this.#blockedUntil.get(address) ?? 0))
          throw new WaitPeriodNotYetEndedJwkError('the key set was fetched just now');
      },
      registerFailedAttempt: (address) => this.#block(address),
      registerSuccessfulAttempt() {},
    },
  });

  /** Whether a token could not be verified because its issuer did not respond. */
  isIssuerDown(address: string, error: unknown): boolean {
    const isBlocked = error instanceof WaitPeriodNotYetEndedJwkError;
    return error instanceof FetchError || (isBlocked && this.#down.has(address));
  }

  #block(address: string): void {
    this.#blockedUntil.set(address, Date.now() + refetchIntervalMs);
  }

  async #fetch(address: string): Promise<ArrayBuffer> {
    try {
      const { status, body } = await httpRequest({
        url: new URL(address),
        method: 'GET',
        // Some gateways reject a request without one.
        headers: { 'user-agent': 'node-registry' },
        timeoutMs: 3000,
        maxReplyBytes: 1e6,
      });
      if (status !== 200) throw new Error(`the issuer answered ${status} for its key set`);
      this.#down.delete(address);
      return new Uint8Array(body).buffer;
    } catch (error) {
      this.#down.add(address);
      this.#block(address);
      throw new FetchError(address, String(error));
    }
  }
}
