import { JwtVerifier } from 'aws-jwt-verify/jwt-verifier';
import type { Caller } from '../caller.ts';
import * as config from '../config.ts';
import { ApiError } from '../errors.ts';
import { isObject } from '../json.ts';
import { KeySets } from './key-sets.ts';
import { RejectedToken, rejected, rejectionOf } from './token-rejections.ts';

/**
 * The sample events carry tokens of this key, with a long lifetime so that they work on any machine. Its private half
 * was thrown away, and no deployment accepts it, even in a key set: only a developer's machine has an issuer on
 * localhost.
 */
const developmentKeyId = 'development';

const verification = config.atStart(
  config.configured(() => {
    const environment = config.tokens();
    const acceptsDevelopmentKey = environment.TOKEN_ISSUER.startsWith('http:');
    const keySets = new KeySets();
    const verifier = JwtVerifier.create(
      {
        issuer: environment.TOKEN_ISSUER,
        // Checked below: not every issuer puts it into `aud`.
        audience: null,
        jwksUri: environment.TOKEN_JWKS_URL,
        graceSeconds: 5,
        customJwtCheck: ({ jwk }) => {
          if (jwk.kid === developmentKeyId && !acceptsDevelopmentKey)
            throw new RejectedToken('bad_signature');
        },
      },
      { jwksCache: keySets.cache },
    );

    if (environment.TOKEN_JWKS !== undefined) verifier.cacheJwks(environment.TOKEN_JWKS);
    return { verifier, keySets };
  }),
);

const bearer = /^Bearer +(.+?) *$/i;
const jwt = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** The token of an Authorization header with any scheme. Undefined if there is none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return bearer.exec(authorization ?? '')?.[1];
}

/** The caller of an Authorization header. Undefined if there is no such header. */
export async function authenticate(authorization: string | undefined): Promise<Caller | undefined> {
  if (authorization === undefined || authorization === '') return undefined;
  const token = bearerToken(authorization);
  if (token === undefined || !jwt.test(token)) throw rejected('malformed');
  const { verifier, keySets } = verification();
  try {
    const claims = await verifier.verify(token);
    requireUsable(claims);
    return { userId: String(claims.sub), isAdmin: isAdmin(claims) };
  } catch (cause) {
    if (keySets.isMissing(config.tokens().TOKEN_JWKS_URL, cause))
      throw new ApiError('unavailable', { cause });
    throw rejected(rejectionOf(cause, token, config.tokens().TOKEN_ISSUER), cause);
  }
}

/** The checks that the verifier leaves to us. Some issuers put the audience into `client_id` only. */
function requireUsable(claims: Record<string, unknown>): void {
  const { sub, exp, aud, client_id, azp, token_use } = claims;
  if (typeof sub !== 'string' || sub === '' || typeof exp !== 'number') throw new RejectedToken('malformed');
  // A token without either may name the client it was issued to.
  const named =
    aud === undefined && client_id === undefined && config.tokens().TOKEN_AZP === 'accepted'
      ? [azp]
      : [aud, client_id];
  if (!named.flat().includes(config.tokens().TOKEN_AUDIENCE)) throw new RejectedToken('wrong_audience');
  if (token_use === 'id' && config.tokens().ID_TOKENS === 'refused') throw new RejectedToken('id_token');
}

/** The claim may be nested (`realm_access.roles`), or have dots in its name, as URLs do. */
function isAdmin(claims: Record<string, unknown>): boolean {
  const { ADMIN_CLAIM, ADMIN_CLAIM_VALUE } = config.tokens();
  const nested = ADMIN_CLAIM.split('.').reduce<unknown>(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    claims,
  );
  return [claims[ADMIN_CLAIM], nested].flat().includes(ADMIN_CLAIM_VALUE);
}
