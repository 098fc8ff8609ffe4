import { foldNodeId } from '@node-registry/registry-rules/names';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { absent } from '../store/items.ts';
import { trustKey } from '../store/keys.ts';
import { queryAll } from '../store/read.ts';
import { putting } from '../store/write.ts';
import { changeOf } from './changes.ts';
import { type Changed, type Actor, type TrustRecord, trustRecord } from './records.ts';
import { credentialsIn, endCredential, inOrder, makerOf, standing } from './tokens.ts';

/* The CI jobs that a publisher trusts. */

export type NewTrust = Pick<
  TrustRecord,
  'issuer' | 'repository' | 'workflow' | 'job_workflow' | 'environment' | 'ref' | 'event' | 'node_id'
>;

/** One publish reads all trusts of a publisher. */
const maxTrusts = 100;

export async function addTrust(
  context: Context,
  by: Actor,
  publisherId: string,
  wanted: NewTrust,
): Promise<TrustRecord> {
  const about = { publisherId, action: 'add trust' as const, reads: credentialsIn };
  const { result } = await changeOf(context, by, about, (publisher, found, { id, now }, before) => {
    const all = found.trusts.map(trustRecord);
    const trusts = all.filter(isTrusted);
    const same = trusts.find((trust) => identityOf(trust) === identityOf(wanted));
    if (same) {
      const message = `"${publisher.id}" trusts these jobs already, by the trust ${same.id}.`;
      throw new ApiError('conflict', { message });
    }
    if (trusts.length >= maxTrusts) {
      const message = `"${publisher.id}" has ${maxTrusts} trusts, the maximum: remove one first.`;
      throw new ApiError('too_many_requests', { message });
    }
    const made_by = makerOf(by, all, isTrusted);
    const record: TrustRecord = {
      ...trustKey(publisher.id, id),
      id,
      created_at: new Date(now).toISOString(),
      ...wanted,
      revision: 1,
      ...(made_by && { made_by }),
    };
    const change = { of: publisher, action: 'trust add', subject: id, detail: describeTrust(record) };
    return { change, writes: [putting(record, absent), ...standing(publisher, before)], result: record };
  });
  return result;
}

export function isTrusted({ revoked_at }: TrustRecord): boolean {
  return revoked_at === undefined;
}

/** The trusts of a publisher, including removed ones, oldest first. */
export async function listTrusts(context: Context, publisherId: string): Promise<TrustRecord[]> {
  return inOrder((await queryAll(context, trustKey(publisherId, ''))).map(trustRecord));
}

/** Removes a trust for good, and returns since when. If it is added again, it pins its ids again. */
export function removeTrust(
  context: Context,
  by: Actor,
  publisherId: string,
  id: string,
): Promise<Changed<string>> {
  const ending = { publisherId, action: 'end trust', entry: 'trust remove', id } as const;
  return endCredential<TrustRecord>(
    context,
    by,
    ending,
    ({ trusts }) => trusts.map(trustRecord),
    describeTrust,
  );
}

function identityOf({ issuer, repository, node_id, ...trust }: NewTrust): string {
  const { workflow, job_workflow, environment, ref, event } = trust;
  const node = node_id === undefined ? undefined : foldNodeId(node_id);
  const jobs = [workflow, job_workflow, environment, ref, event, node];
  return JSON.stringify([issuer, repository.toLowerCase(), ...jobs]);
}

export function describeTrust(trust: NewTrust): string {
  const { issuer, repository, workflow, job_workflow, environment, ref, event, node_id } = trust;
  const limits = [
    job_workflow === undefined ? [] : `by ${job_workflow}`,
    environment === undefined ? [] : `environment ${environment}`,
    ref ?? [],
    event === undefined ? [] : `also for ${event}`,
    node_id === undefined ? [] : `node ${node_id}`,
  ].flat();
  return [`${repository} ${workflow}`, ...limits, issuer].join(', ');
}
