import { JwtExpiredError, JwtNotBeforeError } from 'aws-jwt-verify/error';
import { decomposeUnverifiedJwt } from 'aws-jwt-verify/jwt';
import { JwtVerifier } from 'aws-jwt-verify/jwt-verifier';
import { type CiJob, type CiKind, jobOf, keySetPaths, RejectedCiToken } from './ci-claims.ts';
import * as config from '../config.ts';
import { ApiError } from '../errors.ts';
import { KeySets } from './key-sets.ts';

/*
 * ID tokens of CI jobs. This module checks the token alone; lib/registry/trusts.ts checks whether a publisher trusts
 * the job.
 */

interface Issuer {
  kind: CiKind;
  issuer: string;
  keySetUrl?: string | undefined;
}

const builtIn: Issuer[] = [
  { kind: 'github', issuer: 'https://token.actions.githubusercontent.com' },
  { kind: 'gitlab', issuer: 'https://gitlab.com' },
];

const verification = config.configured(() => {
  const accepted = [...builtIn, ...config.ci().CI_ISSUERS].map(({ kind, issuer, keySetUrl }: Issuer) => ({
    kind,
    issuer,
    keySetUrl: keySetUrl ?? issuer.replace(/\/$/, '') + keySetPaths[kind],
  }));
  const issuers = new Map(accepted.map((it) => [it.issuer, it]));
  const keySets = new KeySets();
  const verifier = JwtVerifier.create(
    // The audience is checked below: the verifier would accept a token with further audiences.
    [...issuers.values()].map(({ issuer, keySetUrl }) => ({
      issuer,
      jwksUri: keySetUrl,
      audience: null,
      graceSeconds: 5,
    })),
    { jwksCache: keySets.cache },
  );
  return { issuers, keySets, verifier };
});

const maxTokenLength = 16_384;

/** The job of an ID token. Checks the issuer first, then signature, time and audience, then the claims. */
export async function verifyCiToken(token: string): Promise<CiJob> {
  const { issuers, keySets, verifier } = verification();
  const issuer = issuers.get(claimedIssuer(token));
  if (!issuer) throw new RejectedCiToken('unknown_issuer');
  const claims = await verifier.verify(token).catch((cause: unknown) => {
    if (keySets.isMissing(issuer.keySetUrl, cause)) throw new ApiError('unavailable', { cause });
    if (cause instanceof JwtExpiredError) throw new RejectedCiToken('expired', cause);
    if (cause instanceof JwtNotBeforeError) throw new RejectedCiToken('not_yet_valid', cause);
    throw new RejectedCiToken('bad_signature', cause);
  });
  if (typeof claims.exp !== 'number') throw new RejectedCiToken('incomplete');
  const named = [claims.aud ?? []].flat();
  if (named.length === 0 || !named.every((each) => config.ci().CI_AUDIENCE.includes(each)))
    throw new RejectedCiToken('wrong_audience');
  return jobOf(issuer.kind, claims);
}

function claimedIssuer(token: string): string {
  if (token.length > maxTokenLength) throw new RejectedCiToken('malformed');
  try {
    return decomposeUnverifiedJwt(token).payload.iss ?? '';
  } catch (cause) {
    throw new RejectedCiToken('malformed', cause);
  }
}
