import { hashPersonalAccessToken, isWellFormed } from 'registry-rules/personal-access-tokens';
import { type CiJob, verifyCiToken } from '../auth/ci-tokens.ts';
import { ApiError } from '../errors.ts';
import { describeError, log, note } from '../log.ts';
import type { Item } from '../store/items.ts';
import { type Key, personalAccessTokenKey } from '../store/keys.ts';
import { update, type Write } from '../store/write.ts';
import { type CredentialRecord, type NodeVersionRecord, type TrustRecord, tokenRecord } from './records.ts';
import { pinIds, provenanceOf, requireTrust, usedTokenKey, useToken } from './trusts.ts';

/** The credential of a publish: the SHA-256 of a personal access token, or a job of a CI. */
export type GivenCredential = { tokenHash: string; job?: undefined } | { job: CiJob; tokenHash?: undefined };

/** The CI job that publishes, if the token is an ID token: it has two dots, and a personal access token has none. */
export async function ciJobOf(token: string): Promise<CiJob | undefined> {
  if (token.split('.', 4).length !== 3) return undefined;
  return verifyCiToken(token);
}

export function givenCredential(token: string, job: CiJob | undefined): GivenCredential {
  if (job) return { job };
  // A mistyped token is rejected without reading the store.
  if (!isWellFormed(token)) throw new ApiError('invalid_personal_access_token');
  return { tokenHash: hashPersonalAccessToken(token) };
}

/** A valid credential: its record, the part that stays with the version, and the writes that go with it. */
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

export function requireCredential(
  { tokenHash, job }: GivenCredential,
  { item, trusts }: FoundRecords,
  { nodeId, versionKey }: { nodeId: string; versionKey: Key },
): AcceptedCredential {
  if (!job) {
    const token = requireToken(item);
    note({ token_id: token.id });
    return { record: token, kept: { token_id: token.id, token_hash: tokenHash }, writes: [] };
  }
  const { repository, run } = job;
  note({ ci_repository: repository, ci_run: run });
  const trust = requireTrust(job, nodeId, trusts);
  note({ trust_id: trust.id });
  const kept = { trust_id: trust.id, provenance: provenanceOf(job) };
  const use = useToken(job, item, versionKey);
  if (trust.repository_id !== undefined) return { record: trust, kept, writes: [use] };
  // The pin notes the use as well: written next to the transaction, the two would meet on one item.
  const last_used_at = new Date().toISOString();
  return { record: { ...trust, last_used_at }, kept, writes: [use, pinIds(trust, job, last_used_at)] };
}

function requireToken(item: Item | undefined) {
  const token = tokenRecord(item);
  if (!token || token.revoked_at !== undefined || token.expires_at <= new Date().toISOString()) {
    throw new ApiError('invalid_personal_access_token');
  }
  return token;
}

const useIntervalMs = 60_000;

/**
 * The last use of a credential is no part of the publish: written with it, every publish of a token would wait for
 * the others. So it is written next to it, at most once a minute, once, and a failure changes nothing.
 */
export async function recordUse({ last_used_at = '', id, ...key }: CredentialRecord): Promise<void> {
  const now = Date.now();
  if (Date.parse(last_used_at) > now - useIntervalMs) return;
  const changes = { last_used_at: new Date(now).toISOString() };
  await update<CredentialRecord>({ deadline: now }, key, changes, [
    ['pk', 'exists'],
    ['revoked_at', 'absent'],
  ]).catch((error: unknown) => log('warn', 'credential_use', { credential_id: id, ...describeError(error) }));
}
