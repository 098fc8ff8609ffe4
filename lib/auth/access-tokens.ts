import {
  JwtExpiredError,
  JwtInvalidIssuerError,
  JwtInvalidSignatureAlgorithmError,
  JwtNotBeforeError,
  JwtParseError,
} from 'aws-jwt-verify/error';
import { decomposeUnverifiedJwt } from 'aws-jwt-verify/jwt';
import { JwtVerifier, supportedSignatureAlgorithms } from 'aws-jwt-verify/jwt-verifier';
import { type Caller, callerName, principalOf, valuesOf } from '../caller.ts';
import * as config from '../config.ts';
import type { Access } from '../contract.ts';
import { ApiError } from '../errors.ts';
import { note } from '../log.ts';
import { KeySets } from './key-sets.ts';

/**
 * The sample events carry long-lived tokens of this key, so that they work on any machine. Its private half
 * was thrown away. Deployments reject it, even in a key set: only a developer's machine has an issuer on
 * localhost.
 */
const developmentKeyId = 'development';

const verification = config.atStart(() => {
  const environment = config.tokens();
  const acceptsDevelopmentKey = environment.TOKEN_ISSUER.startsWith('http:');
  const keySets = new KeySets();
  const verifier = JwtVerifier.create(
    {
      issuer: environment.TOKEN_ISSUER,
      // Checked below: not every issuer puts it into `aud`.
      audience: null,
      jwksUri: environment.TOKEN_KEY_SET_URL,
      graceSeconds: 5,
      customJwtCheck: ({ header, jwk }) => {
        // RFC 7515, 4.1.11: none of these extensions is known here.
        if ('crit' in header) throw rejected('critical_header');
        if (jwk.kid === developmentKeyId && !acceptsDevelopmentKey) throw rejected('bad_signature');
      },
    },
    { jwksCache: keySets.cache },
  );

  const { TOKEN_KEY_SET, TOKEN_KEY_SET_URL } = environment;
  if (TOKEN_KEY_SET !== undefined) {
    keySets.merged(TOKEN_KEY_SET_URL, { ...TOKEN_KEY_SET });
    verifier.cacheJwks(TOKEN_KEY_SET);
  }
  return { verifier, keySets };
});

/** A caller, and the owner of its Idempotency-Keys. */
export interface Admitted<Someone> {
  caller: Someone;
  scope: string;
}

/** Identifies the caller: a person or, if the operation allows it, an unknown caller. */
export async function admit(
  access: Access,
  authorization: string | undefined,
): Promise<Admitted<Caller | undefined>> {
  const caller = access === 'anyone' ? undefined : await authenticate(authorization);
  requireCaller(access, caller);
  return { caller, scope: callerName(caller) };
}

export function requireCaller(access: Access, caller: Caller | undefined): void {
  if (caller) note({ principal: principalOf(caller.userId) });
  else if (isRequired(access)) throw new ApiError('unauthorized', { reason: 'missing' });
}

function isRequired(access: Access): boolean {
  if (typeof access === 'string') return access === 'user';
  return config.tokens()[access.userUnless] === 'required';
}

const bearer = /^Bearer +([^ ](?:.*[^ ])?) *$/i;
const otherScheme = /^(?!Bearer )[\w-]+ +\S/i;

/** The token of an Authorization header with any scheme. Undefined if there is none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return bearer.exec(authorization ?? '')?.[1];
}

/** The caller of an Authorization header. Undefined if there is no such header. */
export async function authenticate(authorization: string | undefined): Promise<Caller | undefined> {
  if (authorization === undefined || authorization === '') return undefined;
  const token = bearerToken(authorization);
  if (otherScheme.test(authorization)) throw rejected('wrong_scheme');
  if (token === undefined) throw rejected('malformed');
  const { verifier, keySets } = verification();
  try {
    const claims = await verifier.verify(token);
    requireUsable(claims);
    return { userId: String(claims.sub), isAdmin: isAdmin(claims), claims };
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    if (keySets.isUncertain(config.tokens().TOKEN_KEY_SET_URL, cause, token))
      throw new ApiError('unavailable', { cause });
    throw rejected(rejectionOf(cause, token, config.tokens().TOKEN_ISSUER), cause);
  }
}

/** The checks that the verifier leaves to us. Some issuers put the audience into `client_id` only. */
function requireUsable(claims: Record<string, unknown>): void {
  const { sub, exp, aud, client_id, azp, token_use } = claims;
  // The store and the hashes of names take every half of a character for the same one.
  const isName = typeof sub === 'string' && sub !== '' && sub.isWellFormed();
  if (!isName || typeof exp !== 'number') throw rejected('malformed');
  // A token without either may name the client that it was issued to.
  const named =
    aud === undefined && client_id === undefined && config.tokens().TOKEN_AZP === 'accepted'
      ? [azp]
      : [aud, client_id];
  if (!named.flat().includes(config.tokens().TOKEN_AUDIENCE)) throw rejected('wrong_audience');
  if ([token_use].flat().includes('id') && config.tokens().ID_TOKENS === 'rejected')
    throw rejected('id_token');
}

function isAdmin(claims: Record<string, unknown>): boolean {
  const { ADMIN_CLAIM, ADMIN_CLAIM_VALUE } = config.tokens();
  return valuesOf(claims, ADMIN_CLAIM).includes(ADMIN_CLAIM_VALUE);
}

/** Why an access token was rejected. No sentence reveals more than the caller's own token shows. */
const rejections = {
  malformed: 'The access token is malformed.',
  wrong_scheme: 'The Authorization header has another scheme than Bearer.',
  expired: 'The access token has expired.',
  not_yet_valid: 'The access token is not yet valid.',
  wrong_audience: 'The access token is for another audience.',
  wrong_issuer: 'The access token comes from another issuer.',
  wrong_issuer_slash: 'The issuer of the access token differs from ours only in its trailing slash.',
  bad_signature: 'The signature of the access token is not valid.',
  unsupported_algorithm:
    'The access token is signed with an algorithm that is not supported; supported are RS256, RS384, RS512, ES256, ES384, ES512 and EdDSA.',
  critical_header: 'The access token has a critical header parameter that is not supported.',
  id_token: 'This is an ID token; send an access token.',
} as const;

type Rejection = keyof typeof rejections;

/** The 401 for a token that was sent (RFC 6750). */
function rejected(rejection: Rejection, cause?: unknown): ApiError {
  const message = rejections[rejection];
  const description = message.replace(/\.$/, '');
  return new ApiError('unauthorized', {
    message,
    reason: rejection,
    headers: { 'www-authenticate': `Bearer error="invalid_token", error_description="${description}"` },
    cause,
  });
}

/** Maps the verifier's error to a reason, the issuer first: only our issuer's signatures can be checked. */
function rejectionOf(error: unknown, token: string, issuer: string): Rejection {
  if (error instanceof JwtParseError) return 'malformed';
  const claimed = decomposeUnverifiedJwt(token).payload.iss ?? '';
  if (claimed !== issuer || error instanceof JwtInvalidIssuerError) {
    return withoutSlash(claimed) === withoutSlash(issuer) ? 'wrong_issuer_slash' : 'wrong_issuer';
  }
  if (error instanceof JwtExpiredError) return 'expired';
  if (error instanceof JwtNotBeforeError) return 'not_yet_valid';
  return isSupported(error) ? 'bad_signature' : 'unsupported_algorithm';
}

/** The verifier rejects an algorithm that it doesn't support, and one that its key isn't for. */
function isSupported(error: unknown): boolean {
  if (!(error instanceof JwtInvalidSignatureAlgorithmError)) return true;
  const { actual } = error.failedAssertion;
  return supportedSignatureAlgorithms.some((name) => name === actual);
}

function withoutSlash(issuer: string): string {
  return issuer.replace(/\/$/, '');
}
