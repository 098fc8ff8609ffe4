import { hash } from 'node:crypto';
import type { Context } from '../context.ts';
import type { CiJob } from '../auth/ci-tokens.ts';
import { ApiError } from '../errors.ts';
import type { Provenance } from 'registry-rules/schemas/node-version';
import type { Item } from '../store/items.ts';
import { idTokenKey, isSameNodeId, type Key, keyName, trustKey } from '../store/keys.ts';
import { queryAll } from '../store/read.ts';
import { putting, updating, type Write } from '../store/write.ts';
import { type IdTokenRecord, idTokenRecord, type TrustRecord, trustRecord } from './records.ts';

/** All jobs that a publisher trusts or once trusted. */
export async function readTrusts(context: Context, publisherId: string): Promise<TrustRecord[]> {
  return (await queryAll(context, trustKey(publisherId, ''))).map((item) => trustRecord(item));
}

/**
 * The trust by which a job may publish a node. An error names the first part that does not match, from the repository
 * on.
 */
export function requireTrust(job: CiJob, nodeId: string, trusts: readonly TrustRecord[]): TrustRecord {
  const found = findTrust(
    job,
    nodeId,
    trusts.filter(({ revoked_at }) => revoked_at === undefined),
  );
  if (!('missing' in found)) return found;
  const wasTrusted = !('missing' in findTrust(job, nodeId, trusts));
  throw rejected(wasTrusted ? 'trust_revoked' : found.missing, job);
}

/** The reasons why a publisher rejects a job with a valid token. */
const rejections = {
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
  untrusted_node: () => 'The publisher trusts this workflow only for another node.',
  repository_replaced: ({ repository }) =>
    `${repository} is not the repository that was trusted: its id or the id of its owner has changed.`,
  trust_revoked: () => 'The publisher no longer trusts this workflow.',
  token_used: () => 'The CI token was used for another node version; let the job request a new one.',
} as const satisfies Record<string, (job: CiJob) => string>;

type TrustRejection = keyof typeof rejections;

function rejected(rejection: TrustRejection, job: CiJob): ApiError {
  const message = rejections[rejection](job);
  return new ApiError('invalid_personal_access_token', { message, reason: `ci_${rejection}` });
}

function findTrust(
  job: CiJob,
  nodeId: string,
  trusts: readonly TrustRecord[],
): TrustRecord | { missing: TrustRejection } {
  const ofRepository = trusts.filter(
    ({ issuer, repository }) =>
      issuer === job.issuer && repository.toLowerCase() === job.repository.toLowerCase(),
  );
  const ofWorkflow = ofRepository.filter(({ workflow }) => workflow === job.workflow);
  const ofJobWorkflow = ofWorkflow.filter(
    ({ job_workflow }) => job_workflow === undefined || job_workflow === job.jobWorkflow,
  );
  const ofEnvironment = ofJobWorkflow.filter(
    ({ environment }) => environment === undefined || environment === job.environment,
  );
  const ofRef = ofEnvironment.filter((trust) => isRefOf(job, trust));
  const [trust] = ofRef.filter(({ node_id }) => node_id === undefined || isSameNodeId(node_id, nodeId));
  if (ofRepository.length === 0) return { missing: 'untrusted_repository' };
  if (ofWorkflow.length === 0) return { missing: 'untrusted_workflow' };
  if (ofJobWorkflow.length === 0) return { missing: 'untrusted_job_workflow' };
  if (ofEnvironment.length === 0) return { missing: 'untrusted_environment' };
  if (ofRef.length === 0) return { missing: 'untrusted_ref' };
  if (!trust) return { missing: 'untrusted_node' };
  // Ids that one trust has pinned hold for all of the repository: a new one of its name gets in by none of them.
  return ofRepository.every((each) => hasIdsOf(job, each)) ? trust : { missing: 'repository_replaced' };
}

function isRefOf(job: CiJob, { ref }: TrustRecord): boolean {
  if (ref === undefined) return true;
  return ref.endsWith('*') ? job.ref.startsWith(ref.slice(0, -1)) : job.ref === ref;
}

function hasIdsOf(job: CiJob, { repository_id, owner_id }: TrustRecord): boolean {
  return repository_id === undefined || (repository_id === job.repositoryId && owner_id === job.ownerId);
}

/** At its first use a trust takes the ids of the job: from then on only the repository that has them is trusted. */
export function pinIds(trust: TrustRecord, job: CiJob, last_used_at: string): Write {
  return updating<TrustRecord>(
    trust,
    { repository_id: job.repositoryId, owner_id: job.ownerId, last_used_at },
    [
      ['repository_id', 'absent'],
      ['pk', 'exists'],
    ],
  );
}

export function usedTokenKey({ issuer, tokenId }: Pick<CiJob, 'issuer' | 'tokenId'>): Key {
  return idTokenKey(hash('sha256', `${issuer}\n${tokenId}`));
}

/** An ID token publishes one version, which it may resume. */
export function useToken(job: CiJob, used: Item | undefined, versionKey: Key): Write {
  const used_for = keyName(versionKey);
  const earlier = idTokenRecord(used);
  if (earlier && earlier.used_for !== used_for) throw rejected('token_used', job);
  const record: IdTokenRecord = { ...usedTokenKey(job), used_for, ttl: job.expiresAt + expiryMarginSeconds };
  return putting(record, { anyOf: [[['pk', 'absent']], [['used_for', '=', used_for]]] });
}

/** More than the clocks of an issuer and of this service differ. */
const expiryMarginSeconds = 300;

export function provenanceOf(job: CiJob): Provenance {
  const { issuer, repository, commit, ref, workflow, jobWorkflow: job_workflow, run, environment } = job;
  return { issuer, repository, commit, ref, workflow, job_workflow, run, environment };
}
