import { JwtExpiredError, JwtNotBeforeError } from 'aws-jwt-verify/error';
import { decomposeUnverifiedJwt } from 'aws-jwt-verify/jwt';
import { JwtVerifier } from 'aws-jwt-verify/jwt-verifier';
import { ciIssuers } from '@node-registry/registry-rules/ci-issuers';
import * as config from '../config.ts';
import { ApiError } from '../errors.ts';
import { KeySets } from './key-sets.ts';

/*
 * ID tokens of CI jobs. This module checks the token alone; lib/registry/credentials.ts checks whether a publisher trusts
 * the job.
 */

/** A CI job, as a verified ID token describes it. */
export interface CiJob {
  issuer: string;
  /** The token's own id (`jti`), and when it expires, in seconds. */
  tokenId: string;
  expiresAt: number;
  repository: string;
  /** Ids that survive a rename of the repository or its owner, and that a namesake doesn't have. */
  repositoryId: string;
  ownerId: string;
  /** The file that defines the job, named as a trust names it. */
  workflow: string;
  /** The workflow file that the job's own file calls, as its issuer names it, with repository and ref. */
  jobWorkflow: string | undefined;
  environment: string | undefined;
  /** What started the job, and whether a trust needs to name it. */
  event: string;
  isUsualEvent: boolean;
  ref: string;
  commit: string;
  run: string;
}

type CiKind = keyof typeof ciIssuers;

interface Issuer {
  kind: CiKind;
  issuer: string;
  keySetUrl?: string | undefined;
}

const builtIn: Issuer[] = [
  { kind: 'github', issuer: ciIssuers.github },
  { kind: 'gitlab', issuer: ciIssuers.gitlab },
];

/** The path of the key set of each kind of CI, relative to its issuer. */
const keySetPaths: Record<CiKind, string> = {
  github: '/.well-known/jwks',
  gitlab: '/oauth/discovery/keys',
};

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
      customJwtCheck: ({ header }: { header: object }) => {
        // RFC 7515, 4.1.11: none of these extensions is known here.
        if ('crit' in header) throw new RejectedCiToken('critical_header');
      },
    })),
    { jwksCache: keySets.cache },
  );
  return { issuers, keySets, verifier };
});

const maxTokenLength = 16_384;

/** The job of an ID token. Checks the issuer first, then signature, time and audience, then the claims. */
export async function verifyCiToken(token: string): Promise<CiJob> {
  const { issuers, keySets, verifier } = verification();
  const issuer = issuers.get(requireIssuer(token));
  if (!issuer) throw new RejectedCiToken('unknown_issuer');
  const claims = await verifier.verify(token).catch((cause: unknown) => {
    if (cause instanceof RejectedCiToken) throw cause;
    if (keySets.isUncertain(issuer.keySetUrl, cause, token)) throw new ApiError('unavailable', { cause });
    if (cause instanceof JwtExpiredError) throw new RejectedCiToken('expired', cause);
    if (cause instanceof JwtNotBeforeError) throw new RejectedCiToken('not_yet_valid', cause);
    throw new RejectedCiToken('bad_signature', cause);
  });
  if (!Number.isSafeInteger(Math.ceil(claims.exp ?? Number.NaN))) throw new RejectedCiToken('incomplete');
  const named = [claims.aud ?? []].flat();
  if (named.length === 0 || !named.every((each) => config.ci().CI_AUDIENCE.includes(each)))
    throw new RejectedCiToken('wrong_audience');
  return jobIn(issuer.kind, claims);
}

function requireIssuer(token: string): string {
  if (token.length > maxTokenLength) throw new RejectedCiToken('malformed');
  try {
    return decomposeUnverifiedJwt(token).payload.iss ?? '';
  } catch (cause) {
    throw new RejectedCiToken('malformed', cause);
  }
}

type Claims = Record<string, unknown>;

/**
 * The job that verified claims describe. Requires all claims that identify it, because a trust pins and
 * compares each.
 */
function jobIn(kind: CiKind, claims: Claims): CiJob {
  return {
    issuer: required(claims, 'iss'),
    tokenId: required(claims, 'jti'),
    expiresAt: Math.ceil(Number(claims.exp)),
    ...(kind === 'github' ? gitHubJob(claims) : gitLabJob(claims)),
    environment: textClaim(claims, 'environment'),
  };
}

/**
 * Events of those who may push to the repository. Others, such as `merge_group`, `workflow_run` and `issue_comment`,
 * also start jobs for what strangers wrote.
 */
const usualEvents: Record<CiKind, readonly string[]> = {
  github: ['push', 'release', 'workflow_dispatch', 'schedule', 'create'],
  gitlab: ['push', 'web', 'schedule', 'api', 'trigger', 'pipeline', 'parent_pipeline'],
};

type Described = Omit<CiJob, 'issuer' | 'tokenId' | 'expiresAt' | 'environment'>;

/** `workflow_ref` is the file that was triggered, even if the job is in a workflow that this file calls. */
function gitHubJob(claims: Claims): Described {
  const event = required(claims, 'event_name');
  if (/^pull_request/i.test(event) || textClaim(claims, 'head_ref') !== undefined)
    throw new RejectedCiToken('pull_request');
  const repository = required(claims, 'repository');
  const ref = lastingRef(required(claims, 'ref'));
  return {
    repository,
    repositoryId: required(claims, 'repository_id'),
    ownerId: required(claims, 'repository_owner_id'),
    workflow: ownFile(required(claims, 'workflow_ref'), `${repository}/.github/workflows/`, ref),
    jobWorkflow: textClaim(claims, 'job_workflow_ref'),
    event,
    isUsualEvent: usualEvents.github.includes(event),
    ref,
    commit: required(claims, 'sha'),
    run: required(claims, 'run_id'),
  };
}

function gitLabJob(claims: Claims): Described {
  const event = required(claims, 'pipeline_source');
  if (event === 'merge_request_event' || event === 'external_pull_request_event')
    throw new RejectedCiToken('pull_request');
  const repository = required(claims, 'project_path');
  const ref = lastingRef(textClaim(claims, 'ref_path') ?? namedRef(claims));
  const home = `${new URL(required(claims, 'iss')).host}/${repository}//`;
  return {
    repository,
    repositoryId: required(claims, 'project_id'),
    ownerId: required(claims, 'namespace_id'),
    workflow: ownFile(required(claims, 'ci_config_ref_uri'), home, ref),
    jobWorkflow: undefined,
    event,
    isUsualEvent: usualEvents.gitlab.includes(event),
    ref,
    commit: required(claims, 'sha'),
    run: required(claims, 'pipeline_id'),
  };
}

/** Anyone may propose a change of the workflow file, and its job runs before a maintainer reads it. */
function lastingRef(ref: string): string {
  if (/^refs\/(?:pull|merge-requests|heads\/gh-readonly-queue)\//.test(ref))
    throw new RejectedCiToken('pull_request');
  return ref;
}

/** Before GitLab 16, a token has no `ref_path`. */
function namedRef(claims: Claims): string {
  return `refs/${required(claims, 'ref_type') === 'tag' ? 'tags' : 'heads'}/${required(claims, 'ref')}`;
}

/**
 * The file, if `whole` is its URL in the job's own repository at the job's own ref. Otherwise another
 * project's owners could publish in this one's name. Doesn't search: a file may be called
 * `release.yml@evil.yml`.
 */
function ownFile(whole: string, home: string, ref: string): string {
  const file = whole.slice(home.length, whole.length - ref.length - 1);
  const isOwn = whole.slice(0, home.length).toLowerCase() === home.toLowerCase();
  if (!isOwn || file === '' || whole.slice(home.length) !== `${file}@${ref}`)
    throw new RejectedCiToken('foreign_workflow');
  return file;
}

function required(claims: Claims, name: string): string {
  const value = textClaim(claims, name);
  if (value === undefined) throw new RejectedCiToken('incomplete');
  return value;
}

/** Some issuers write IDs as numbers. Rejects a claim of another type: a trust may accept an absent one. */
function textClaim(claims: Claims, name: string): string | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  const text = Number.isSafeInteger(value) ? String(value) : (value ?? '');
  if (typeof text !== 'string' || !text.isWellFormed()) throw new RejectedCiToken('incomplete');
  return text === '' ? undefined : text;
}

/** Why an ID token of a CI job is rejected for every publisher. */
export const rejections = {
  malformed: 'The CI token is malformed.',
  unknown_issuer: 'The CI token comes from an issuer that this registry does not accept.',
  bad_signature: 'The signature of the CI token is not valid.',
  expired: 'The CI token has expired; let the job request a new one.',
  not_yet_valid: 'The CI token is not yet valid.',
  wrong_audience:
    'The CI token is for another audience, or for others too; request it for this registry alone.',
  critical_header: 'The CI token has a critical header parameter that is not supported.',
  incomplete: 'The CI token lacks a claim that identifies its job.',
  foreign_workflow: 'The CI token names a workflow file of another repository or ref.',
  pull_request: 'The CI token belongs to a job of a pull request, which never publishes.',
} as const;

class RejectedCiToken extends ApiError {
  constructor(rejection: keyof typeof rejections, cause?: unknown) {
    super('invalid_personal_access_token', {
      message: rejections[rejection],
      reason: `ci_token_${rejection}`,
      cause,
    });
  }
}
