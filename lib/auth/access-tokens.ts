import { FetchError, WaitPeriodNotYetEndedJwkError } from 'aws-jwt-verify/error';
import { type Jwks, SimpleJwksCache } from 'aws-jwt-verify/jwk';
import { JwtVerifier } from 'aws-jwt-verify/jwt-verifier';
import { readEnvironment } from '../environment.ts';
import { ApiError } from '../errors.ts';
import { httpRequest } from '../http-request.ts';

/** The person or program behind a valid access token. */
export interface Caller {
  userId: string;
  isAdmin: boolean;
}

const environment = readEnvironment('tokens');

/**
 * The sample events carry tokens of this key, signed for a long time so that they run on any machine. Its
 * private half was thrown away, and no deployment accepts it, even if it finds its way into a key set: an
 * issuer on localhost is something only a developer's machine has.
 */
const developmentKeyId = 'development';
const acceptsDevelopmentKey = environment.TOKEN_ISSUER.startsWith('http:');

const refetchIntervalMs = 10_000;

/**
 * The key set is fetched for a key that is not in it, and at most once in an interval, so that made-up key
 * ids cannot flood the issuer. Keys that are known go on verifying while the issuer is down.
 */
const refetch = {
  blockedUntil: 0,
  issuerIsDown: false,
  async wait() {
    if (Date.now() < this.blockedUntil)
      throw new WaitPeriodNotYetEndedJwkError('the key set was fetched just now');
  },
  registerFailedAttempt() {
    this.blockedUntil = Date.now() + refetchIntervalMs;
  },
  registerSuccessfulAttempt() {},
};

async function fetchKeySet(address: string): Promise<ArrayBuffer> {
  try {
    const { status, body } = await httpRequest({
      url: new URL(address),
      method: 'GET',
      timeoutMs: 3000,
      maxReplyBytes: 1e6,
    });
    if (status !== 200) throw new Error(`the issuer answered ${status} for its key set`);
    refetch.issuerIsDown = false;
    return new Uint8Array(body).buffer;
  } catch (error) {
    refetch.issuerIsDown = true;
    refetch.registerFailedAttempt();
    throw new FetchError(address, String(error));
  }
}

const verifier = JwtVerifier.create(
  {
    issuer: environment.TOKEN_ISSUER,
    audience: environment.TOKEN_AUDIENCE,
    jwksUri: environment.TOKEN_JWKS_URL,
    graceSeconds: 5,
    customJwtCheck: ({ jwk }) => {
      if (jwk.kid === developmentKeyId && !acceptsDevelopmentKey) throw new Error('the development key');
    },
  },
  { jwksCache: new SimpleJwksCache({ fetcher: { fetch: fetchKeySet }, penaltyBox: refetch }) },
);

if (environment.TOKEN_JWKS !== undefined) verifier.cacheJwks(parseKeySet(environment.TOKEN_JWKS));

function parseKeySet(text: string): Jwks {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error('The environment is not valid. TOKEN_JWKS: must be JSON', { cause });
  }
}

const bearer = /^Bearer +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+) *$/i;

/** The caller that an Authorization header proves; undefined where there is no such header. */
export async function authenticate(authorization: string | undefined): Promise<Caller | undefined> {
  if (authorization === undefined || authorization === '') return undefined;
  const token = bearer.exec(authorization)?.[1];
  if (token === undefined) throw new ApiError('unauthorized');
  const claims = await verifier.verify(token).catch((cause: unknown) => {
    const keySetIsMissing =
      cause instanceof FetchError || (cause instanceof WaitPeriodNotYetEndedJwkError && refetch.issuerIsDown);
    throw new ApiError(keySetIsMissing ? 'unavailable' : 'unauthorized', { cause });
  });
  if (typeof claims.sub !== 'string' || claims.sub === '' || typeof claims.exp !== 'number')
    throw new ApiError('unauthorized');
  return { userId: claims.sub, isAdmin: isAdmin(claims[environment.ADMIN_CLAIM]) };
}

function isAdmin(claim: unknown): boolean {
  const values = Array.isArray(claim) ? claim : [claim];
  return values.includes(environment.ADMIN_CLAIM_VALUE);
}
