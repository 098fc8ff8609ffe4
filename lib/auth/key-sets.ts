import { createPublicKey } from 'node:crypto';
import { FetchError, WaitPeriodNotYetEndedJwkError, KidNotFoundInJwksError } from 'aws-jwt-verify/error';
import { isJwk, SimpleJwksCache } from 'aws-jwt-verify/jwk';
import type { Json } from 'aws-jwt-verify/safe-json-parse';
import { httpRequest } from '../outgoing/http-request.ts';
import { decomposeUnverifiedJwt } from 'aws-jwt-verify/jwt';
import { isObject, type JsonObject, parseObject } from '../json.ts';
import { log } from '../log.ts';

const refetchIntervalMs = 10_000;
/** A key that is missing from a fetched set still verifies: the set may be a stale copy from a CDN edge. */
const graceMs = 15 * 60_000;
/** Afterwards its tokens get 503 for a while, not a 401 that would sign people out. */
const doubtMs = 60 * 60_000;

interface SeenKey {
  key: JsonObject;
  /** Since when fetched sets have lacked it; undefined if the last one had it. */
  missingSince?: number;
}

/**
 * The key sets of issuers. A set is fetched for an unknown key, at most once per interval, so that made-up key ids
 * cannot flood an issuer. Known keys keep working while an issuer is down, or sends a set that is empty or damaged.
 */
export class KeySets {
  readonly #blockedUntil = new Map<string, number>();
  readonly #down = new Set<string>();
  /** By URL and key id. */
  readonly #seen = new Map<string, Map<string, SeenKey>>();

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

  /** Stores the keys of a set, and returns them with the keys of earlier sets that still verify. */
  merged(address: string, { keys }: JsonObject): { keys: JsonObject[] } {
    const now = Date.now();
    const usable = (Array.isArray(keys) ? keys : []).filter(isUsable);
    if (usable.length === 0) throw new Error('the key set of the issuer has no key with an id');
    const seen = new Map<string, SeenKey>();
    for (const [id, { key, missingSince = now }] of this.#seen.get(address) ?? [])
      if (now - missingSince < doubtMs) seen.set(id, { key, missingSince });
    for (const key of usable) seen.set(String(key.kid), { key });
    this.#seen.set(address, seen);
    const verifying = [...seen.values()].filter(({ missingSince = now }) => now - missingSince < graceMs);
    return { keys: verifying.map(({ key }) => key) };
  }

  /** Whether the failure may pass: the token's issuer is down, or its key has just vanished. */
  isUncertain(address: string, error: unknown, token: string): boolean {
    if (error instanceof FetchError) return true;
    const isBlocked = error instanceof WaitPeriodNotYetEndedJwkError;
    if (!isBlocked && !(error instanceof KidNotFoundInJwksError)) return false;
    const hasVanished = this.#seen.get(address)?.has(String(decomposeUnverifiedJwt(token).header.kid));
    if (hasVanished) log('warn', 'key_vanished', { key_set: address });
    return hasVanished || (isBlocked && this.#down.has(address));
  }

  #block(address: string): void {
    this.#blockedUntil.set(address, Date.now() + refetchIntervalMs);
  }

  async #fetch(address: string): Promise<ArrayBuffer> {
    try {
      const { status, body } = await httpRequest({
        url: new URL(address),
        method: 'GET',
        // Some gateways reject a request without a user agent.
        headers: { 'user-agent': 'node-registry' },
        timeoutMs: 3000,
        maxReplyBytes: 1e6,
      });
      if (status !== 200) throw new Error(`the issuer answered ${status} for its key set`);
      const keys = this.merged(address, parseObject(body.toString()) ?? {});
      this.#down.delete(address);
      return new Uint8Array(Buffer.from(JSON.stringify(keys))).buffer;
    } catch (error) {
      this.#down.add(address);
      this.#block(address);
      log('warn', 'key_set', { key_set: address, reason: String(error) });
      throw new FetchError(address, String(error));
    }
  }
}

/** A damaged key, or one for encryption, would replace the good key of its id, or spoil the whole set. */
function isUsable(key: unknown): key is JsonObject {
  if (!isObject(key) || typeof key.kid !== 'string' || (key.use ?? 'sig') !== 'sig' || !isJwk(key as Json))
    return false;
  try {
    return createPublicKey({ key, format: 'jwk' }).type === 'public';
  } catch {
    return false;
  }
}
