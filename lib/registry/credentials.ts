import { hash } from 'node:crypto';
import type { Provenance } from '@node-registry/registry-rules/schemas/node-version';
import { hashPersonalAccessToken, isWellFormed } from '@node-registry/registry-rules/personal-access-tokens';
import type { CiJob } from '../auth/ci-tokens.ts';
import type { Caller } from '../caller.ts';
import { ApiError } from '../errors.ts';
import { describeError, log, note } from '../log.ts';
import { type Item, present } from '../store/items.ts';
import { idTokenKey, isSameNodeId, type Key, keyName, personalAccessTokenKey } from '../store/keys.ts';
import { putting, updating, type Write, write } from '../store/write.ts';
import {
  type CredentialRecord,
  type IdTokenRecord,
  idTokenRecord,
  type NodeVersionRecord,
  tokenRecord,
  type TrustRecord,
} from './records.ts';

/** The credential of a publish: the SHA-256 of a personal access token, or a CI job. */
export type GivenCredential = { tokenHash: string; job?: undefined } | { job: CiJob; tokenHash?: undefined };

/** The credential that a caller gives, and the person who gives it: a job stands for none. */
export function givenCredential(
  token: string,
  caller: Caller | CiJob | undefined,
): GivenCredential & { caller: Caller | undefined } {
  if (caller && 'repository' in caller) return { job: caller, caller: undefined };
  // A mistyped token is rejected without reading the store.
  if (!isWellFormed(token)) throw new ApiError('invalid_personal_access_token');
  return { tokenHash: hashPersonalAccessToken(token), caller };
}

/** A valid credential: its record, the part stored with the version, and the writes that go with it. */
export interface AcceptedCredential {
  record: CredentialRecord;
  kept: Pick<NodeVersionRecord, 'token_id' | 'token_hash' | 'trust_id' | 'provenance'>;
  writes: Write[];
}

/** The record that decides: the token itself, or the use of an ID token. */
export function keyOfCredential(publisherId: string, { tokenHash, job }: GivenCredential): Key {
  return job ? usedTokenKey(job) : personalAccessTokenKey(publisherId, tokenHash);
}

interface FoundRecords {
  /** The record under `keyOfCredential`. */
  item: Item | undefined;
  trusts: readonly TrustRecord[];
}

/** What a publish proves with its credential, or why the credential is rejected. */
export function acceptCredential(
  { tokenHash, job }: GivenCredential,
  { item, trusts }: FoundRecords,
  { nodeId, versionKey }: { nodeId: string; versionKey: Key },
): AcceptedCredential | ApiError {
  if (!job) {
    const token = tokenRecord(item);
    if (!token || token.revoked_at !== undefined || token.expires_at <= new Date().toISOString())
      return new ApiError('invalid_personal_access_token');
    if (token.node_id !== undefined && !isSameNodeId(token.node_id, nodeId)) {
      const message = 'The personal access token is for another node.';
      return new ApiError('invalid_personal_access_token', { message });
    }
    note({ token_id: token.id });
    return { record: token, kept: { token_id: token.id, token_hash: tokenHash }, writes: [] };
  }
  const { repository, run } = job;
  note({ ci_repository: repository, ci_run: run });
  const trust = trustFor(job, nodeId, trusts);
  if (trust instanceof ApiError) return trust;
  note({ trust_id: trust.id });
  const use = useToken(job, item, versionKey);
  if (use instanceof ApiError) return use;
  const kept = { trust_id: trust.id, provenance: provenanceOf(job) };
  if (trust.repository_id !== undefined) return { record: trust, kept, writes: [use] };
  // The pin also records the use: a separate write would conflict with the transaction on the same item.
  const last_used_at = new Date().toISOString();
  return { record: { ...trust, last_used_at }, kept, writes: [use, pinIds(trust, job, last_used_at)] };
}

const useIntervalMs = 60_000;

/**
 * A publish doesn't include the last use of its credential: otherwise, all publishes with one token would
 * wait for each other. So it is written separately, once, at most every minute, and a failure changes
 * nothing.
 */
export async function recordUse({ last_used_at = '', id, ...key }: CredentialRecord): Promise<void> {
  const now = Date.now();
  if (Date.parse(last_used_at) > now - useIntervalMs) return;
  const changes = { last_used_at: new Date(now).toISOString() };
  const used = updating<CredentialRecord>(key, changes, [...present, ['revoked_at', 'absent']]);
  await write({ deadline: now }, used).catch((error: unknown) =>
    log('warn', 'credential_use', { credential_id: id, ...describeError(error) }),
  );
}

/**
 * The trust that allows a job to publish a node. An error names the first part that doesn't match, starting
 * with the repository.
 */
function trustFor(job: CiJob, nodeId: string, trusts: readonly TrustRecord[]): TrustRecord | ApiError {
  const current = trusts.filter(({ revoked_at }) => revoked_at === undefined);
  const found = findTrust(job, nodeId, current);
  if (!('missing' in found)) return found;
  const wasTrusted = !('missing' in findTrust(job, nodeId, trusts));
  return rejected(wasTrusted ? 'trust_revoked' : found.missing, job);
}

/** Why a publisher rejects a job with a valid token. */
const sentences = {
  untrusted_repository: ({ repository, issuer }) =>
    `The publisher does not trust the repository ${repository} of ${issuer}.`,
  untrusted_workflow: ({ repository, workflow }) =>
    `The publisher trusts ${repository}, but not its workflow file ${workflow}.`,
  untrusted_job_workflow: ({ jobWorkflow = 'no other one' }) =>
    `The publisher trusts this workflow if it uses another one, and the job uses ${jobWorkflow}.`,
  untrusted_environment: ({ environment }) =>
    environment === undefined
      ? 'The publisher trusts this workflow only in an environment, and the job has none.'
      : `The publisher trusts this workflow, but not in the environment ${environment}.`,
  untrusted_ref: ({ ref }) => `The publisher trusts this workflow, but not for ${ref}.`,
  untrusted_event: ({ event }) => `The publisher trusts this workflow, but not for the event ${event}.`,
  untrusted_node: () => 'The publisher trusts this workflow only for another node.',
  repository_replaced: ({ repository }) =>
    `${repository} is not the repository that was trusted: its id or the id of its owner has changed.`,
  trust_revoked: () => 'The publisher no longer trusts this workflow.',
  token_used: () => 'The CI token was used for another node version; let the job request a new one.',
} as const satisfies Record<string, (job: CiJob) => string>;

type TrustRejection = keyof typeof sentences;

function rejected(rejection: TrustRejection, job: CiJob): ApiError {
  const message = sentences[rejection](job);
  return new ApiError('invalid_personal_access_token', { message, reason: `ci_${rejection}` });
}

type Matches = (trust: TrustRecord, job: CiJob, nodeId: string) => boolean;

/** The parts of a trust, in the order in which they are compared with a job. */
const parts: readonly [TrustRejection, Matches][] = [
  ['untrusted_repository', isOfRepository],
  ['untrusted_workflow', ({ workflow }, job) => workflow === job.workflow],
  ['untrusted_job_workflow', ({ job_workflow: file }, job) => file === undefined || file === job.jobWorkflow],
  ['untrusted_environment', ({ environment: name }, job) => name === undefined || name === job.environment],
  ['untrusted_ref', ({ ref }, job) => ref === undefined || isRef(job.ref, ref)],
  ['untrusted_event', ({ event }, job) => job.isUsualEvent || event === job.event],
  ['untrusted_node', ({ node_id: id }, _, nodeId) => id === undefined || isSameNodeId(id, nodeId)],
];

function isOfRepository({ issuer, repository }: TrustRecord, job: CiJob): boolean {
  return issuer === job.issuer && repository.toLowerCase() === job.repository.toLowerCase();
}

function isRef(ref: string, trusted: string): boolean {
  return trusted.endsWith('*') ? ref.startsWith(trusted.slice(0, -1)) : ref === trusted;
}

function findTrust(
  job: CiJob,
  nodeId: string,
  trusts: readonly TrustRecord[],
): TrustRecord | { missing: TrustRejection } {
  let left = trusts;
  for (const [missing, matches] of parts) {
    left = left.filter((trust) => matches(trust, job, nodeId));
    if (left.length === 0) return { missing };
  }
  // Ids pinned by one trust apply to the whole repository: a new repository of the same name matches no
  // trust.
  const isReplaced = trusts.some((each) => isOfRepository(each, job) && !hasIdsOf(job, each));
  const [trust] = left;
  return trust && !isReplaced ? trust : { missing: 'repository_replaced' };
}

function hasIdsOf(job: CiJob, { repository_id, owner_id }: TrustRecord): boolean {
  return repository_id === undefined || (repository_id === job.repositoryId && owner_id === job.ownerId);
}

/** At its first use a trust takes the job's ids. Then it trusts only the repository with these ids. */
function pinIds(trust: TrustRecord, job: CiJob, last_used_at: string): Write {
  return updating<TrustRecord>(
    trust,
    { repository_id: job.repositoryId, owner_id: job.ownerId, last_used_at },
    [
      ['repository_id', 'absent'],
      ['pk', 'exists'],
    ],
  );
}

function usedTokenKey({ issuer, tokenId }: Pick<CiJob, 'issuer' | 'tokenId'>): Key {
  return idTokenKey(hash('sha256', `${issuer}\n${tokenId}`));
}

/** An ID token publishes one version, which it may resume. */
function useToken(job: CiJob, used: Item | undefined, versionKey: Key): Write | ApiError {
  const used_for = keyName(versionKey);
  const earlier = idTokenRecord(used);
  if (earlier && earlier.used_for !== used_for) return rejected('token_used', job);
  const record: IdTokenRecord = { ...usedTokenKey(job), used_for, ttl: job.expiresAt + expiryMarginSeconds };
  return putting(record, [['used_for', 'absent or =', used_for]]);
}

/** More than the clocks of an issuer and of this service can differ. */
const expiryMarginSeconds = 300;

function provenanceOf(job: CiJob): Provenance {
  const { issuer, repository, commit, ref, workflow, jobWorkflow: job_workflow, run, environment } = job;
  return { issuer, repository, commit, ref, workflow, job_workflow, run, environment };
}
