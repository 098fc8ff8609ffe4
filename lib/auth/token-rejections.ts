import {
  JwtExpiredError,
  JwtInvalidIssuerError,
  JwtInvalidSignatureAlgorithmError,
  JwtNotBeforeError,
  JwtParseError,
} from 'aws-jwt-verify/error';
import { supportedSignatureAlgorithms } from 'aws-jwt-verify/jwt-verifier';
import { ApiError } from '../errors.ts';

/** The reasons why an access token is rejected. None says more than the caller's own token shows. */
const rejections = {
  malformed: 'The access token is malformed.',
  expired: 'The access token has expired.',
  not_yet_valid: 'The access token is not yet valid.',
  wrong_audience: 'The access token is for another audience.',
  wrong_issuer: 'The access token comes from another issuer.',
  wrong_issuer_slash: 'The issuer of the access token differs from ours only in its trailing slash.',
  bad_signature: 'The signature of the access token is not valid.',
  unsupported_algorithm:
    'The access token is signed with an algorithm that is not supported; supported are RS256, RS384, RS512, ES256, ES384, ES512 and EdDSA.',
  id_token: 'This is an ID token; send an access token.',
} as const;

export type Rejection = keyof typeof rejections;

export class RejectedToken extends Error {
  override readonly name = 'RejectedToken';
  readonly rejection: Rejection;

  constructor(rejection: Rejection) {
    super(rejections[rejection]);
    this.rejection = rejection;
  }
}

/** The 401 for a token that was sent (RFC 6750). */
export function rejected(rejection: Rejection, cause?: unknown): ApiError {
  const message = rejections[rejection];
  const description = message.replace(/\.$/, '');
  return new ApiError('unauthorized', {
    message,
    reason: rejection,
    headers: { 'www-authenticate': `Bearer error="invalid_token", error_description="${description}"` },
    cause,
  });
}

/** Maps the verifier's error to a reason. A token of another issuer can't have a signature that we know either. */
export function rejectionOf(error: unknown, token: string, issuer: string): Rejection {
  if (error instanceof RejectedToken) return error.rejection;
  const claimed = claimedIssuer(token);
  if (claimed === undefined || error instanceof JwtParseError) return 'malformed';
  if (claimed !== issuer || error instanceof JwtInvalidIssuerError) {
    return withoutSlash(claimed) === withoutSlash(issuer) ? 'wrong_issuer_slash' : 'wrong_issuer';
  }
  if (error instanceof JwtExpiredError) return 'expired';
  if (error instanceof JwtNotBeforeError) return 'not_yet_valid';
  return isSupported(error) ? 'bad_signature' : 'unsupported_algorithm';
}

/** The verifier rejects an algorithm that it does not know, and one that its key is not for. */
function isSupported(error: unknown): boolean {
  if (!(error instanceof JwtInvalidSignatureAlgorithmError)) return true;
  const { actual } = error.failedAssertion;
  return supportedSignatureAlgorithms.some((name) => name === actual);
}

function claimedIssuer(token: string): string | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(String(token.split('.')[1]), 'base64url').toString());
    const { iss } = claims as { iss?: unknown };
    return typeof iss === 'string' ? iss : '';
  } catch {
    return undefined;
  }
}

function withoutSlash(issuer: string): string {
  return issuer.replace(/\/$/, '');
}
