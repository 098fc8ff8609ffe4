import { foldNodeId } from '@node-registry/registry-rules/names';
import { putting, checking, updating } from '../../../lib/store/write.ts';
import { type PublisherRecord, type TrustRecord, trustRecord } from '../../../lib/registry/records.ts';
import { absent, onRevision } from '../../../lib/store/items.ts';
import { publisherKey, trustKey } from '../../../lib/store/keys.ts';
import { administer, listItems, publisherIn, Rejection } from './administration.ts';
import { showPublisher } from './publishers.ts';

export type Trust = Omit<TrustRecord, 'pk' | 'sk' | 'revision'>;

/** The CI jobs that a publisher trusts, from an administrator's input. */
export type NewTrust = Pick<
  Trust,
  'issuer' | 'repository' | 'workflow' | 'job_workflow' | 'environment' | 'ref' | 'event' | 'node_id'
>;

/** One publish reads all trusts of a publisher. */
const maxTrusts = 100;

export async function addTrust(actor: string, publisherId: string, wanted: NewTrust): Promise<Trust> {
  const first = [publisherKey(publisherId), trustsOf(publisherId)] as const;
  const made = await administer(actor, { first }, ([item, items], { id, now }) => {
    const of = publisherIn(item, publisherId);
    const trusts = items
      .map((each) => trustRecord(each))
      .filter(({ revoked_at }) => revoked_at === undefined);
    const same = trusts.find((trust) => identityOf(trust) === identityOf(wanted));
    if (same) throw new Rejection(`"${publisherId}" trusts these jobs already, by the trust ${same.id}.`);
    if (trusts.length >= maxTrusts)
      throw new Rejection(`"${publisherId}" has ${maxTrusts} trusts, the maximum: remove one first.`);
    const trust: Trust = { id, created_at: new Date(now).toISOString(), ...wanted };
    const record: TrustRecord = { ...trustKey(publisherId, id), ...trust, revision: 1 };
    return {
      change: { of, action: 'trust add', subject: id, detail: describeTrust(trust) },
      writes: [putting(record, absent), checking<PublisherRecord>(of, [['moved_to', 'absent']])],
      result: trust,
    };
  });
  return made.result;
}

const trustsOf = (publisherId: string) => ({ below: trustKey(publisherId, '') });

/** The trusts of a publisher, including removed ones, oldest first. */
export async function listTrusts(publisherId: string): Promise<Trust[]> {
  await showPublisher(publisherId);
  const items = await listItems(trustKey(publisherId, ''));
  return items
    .map((item) => visibleTrust(trustRecord(item)))
    .sort((a, b) => a.created_at.localeCompare(b.created_at));
}

function visibleTrust({ pk: _, sk: __, revision: ___, ...trust }: TrustRecord): Trust {
  return trust;
}

/**
 * Removes a trust for good, and returns since when. The record stays, so that its pending versions never
 * become active; if the trust is added again, it pins its IDs again.
 */
export async function removeTrust(actor: string, publisherId: string, id: string): Promise<string> {
  await showPublisher(publisherId);
  const made = await administer(actor, { first: [trustsOf(publisherId)] }, ([items], { now }) => {
    const trust = items.map((item) => trustRecord(item)).find((each) => each.id === id);
    if (!trust) throw new Rejection(`The publisher "${publisherId}" has no trust with the id "${id}".`);
    if (trust.revoked_at !== undefined) return { done: trust.revoked_at };
    const revoked_at = new Date(now).toISOString();
    const change = { action: 'trust remove', subject: id, detail: describeTrust(trust) };
    return {
      change: { of: publisherKey(publisherId), ...change },
      writes: [updating<TrustRecord>(trust, { revoked_at }, onRevision(trust))],
      result: revoked_at,
    };
  });
  return made.result;
}

function identityOf({ issuer, repository, node_id, ...trust }: NewTrust): string {
  const { workflow, job_workflow, environment, ref, event } = trust;
  const node = node_id === undefined ? undefined : foldNodeId(node_id);
  return JSON.stringify([
    issuer,
    repository.toLowerCase(),
    workflow,
    job_workflow,
    environment,
    ref,
    event,
    node,
  ]);
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
