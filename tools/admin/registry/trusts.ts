import { randomUUID } from 'node:crypto';
import { putting, checking, updating } from '../../../lib/store/write.ts';
import type { PublisherRecord, TrustRecord } from '../../../lib/registry/records.ts';
import { readTrusts } from '../../../lib/registry/trusts.ts';
import { absent, onRevision } from '../../../lib/store/items.ts';
import { isSameNodeId, publisherKey, trustKey } from '../../../lib/store/keys.ts';
import { administer, newContext } from './administration.ts';
import { showPublisher } from './publishers.ts';
import { readPublisher } from './records.ts';
import { Rejection } from './rejection.ts';

/** The jobs of a CI that a publisher trusts, as far as an administrator says. */
export interface NewTrust {
  issuer: string;
  repository: string;
  workflow: string;
  jobWorkflow?: string | undefined;
  environment?: string | undefined;
  ref?: string | undefined;
  nodeId?: string | undefined;
}

export type Trust = Omit<TrustRecord, 'pk' | 'sk' | 'revision'>;

/** One publish reads all trusts of a publisher. */
const maxTrusts = 100;

export async function addTrust(publisherId: string, wanted: NewTrust): Promise<Trust> {
  const { issuer, repository, workflow, jobWorkflow, environment, ref, nodeId } = wanted;
  return administer(async (context) => {
    const of = await readPublisher(context, publisherId);
    const trusts = (await readTrusts(context, publisherId)).filter(
      ({ revoked_at }) => revoked_at === undefined,
    );
    const same = trusts.find((trust) => isSame(trust, wanted));
    if (same) throw new Rejection(`"${publisherId}" trusts these jobs already, by the trust ${same.id}.`);
    if (trusts.length >= maxTrusts)
      throw new Rejection(`"${publisherId}" has ${maxTrusts} trusts, the maximum: remove one first.`);
    const id = randomUUID();
    const trust: Trust = {
      id,
      created_at: new Date().toISOString(),
      issuer,
      repository,
      workflow,
      ...(jobWorkflow !== undefined && { job_workflow: jobWorkflow }),
      ...(environment !== undefined && { environment }),
      ...(ref !== undefined && { ref }),
      ...(nodeId !== undefined && { node_id: nodeId }),
    };
    const record: TrustRecord = { ...trustKey(publisherId, id), ...trust, revision: 1 };
    return {
      change: { of, action: 'trust add', subject: id, detail: describeTrust(trust) },
      writes: [putting(record, absent), checking<PublisherRecord>(of, [['moved_to', 'absent']])],
      result: trust,
    };
  });
}

/** The trusts of a publisher, those that were removed among them, oldest first. */
export async function listTrusts(publisherId: string): Promise<Trust[]> {
  await showPublisher(publisherId);
  const trusts = await readTrusts(newContext(), publisherId);
  return trusts.map(visibleTrust).sort((a, b) => a.created_at.localeCompare(b.created_at));
}

const visibleFields = [
  'id',
  'issuer',
  'repository',
  'workflow',
  'job_workflow',
  'environment',
  'ref',
  'node_id',
  'repository_id',
  'owner_id',
  'created_at',
  'last_used_at',
  'revoked_at',
] as const satisfies (keyof Trust)[];

function visibleTrust(trust: TrustRecord): Trust {
  const entries = visibleFields.map((name) => [name, trust[name]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Trust;
}

/**
 * Removes a trust for good, and returns since when. The record stays, so that its pending versions never become active; a
 * trust that is added again pins its IDs again.
 */
export async function removeTrust(publisherId: string, id: string): Promise<string> {
  await showPublisher(publisherId);
  return administer(async () => {
    const trust = (await readTrusts(newContext(), publisherId)).find((each) => each.id === id);
    if (!trust) throw new Rejection(`The publisher "${publisherId}" has no trust with the id "${id}".`);
    if (trust.revoked_at !== undefined) return { done: trust.revoked_at };
    const revoked_at = new Date().toISOString();
    return {
      change: {
        of: publisherKey(publisherId),
        action: 'trust remove',
        subject: id,
        detail: describeTrust(trust),
      },
      writes: [updating<TrustRecord>(trust, { revoked_at }, onRevision(trust))],
      result: revoked_at,
    };
  });
}

function isSame(
  trust: TrustRecord,
  { issuer, repository, workflow, jobWorkflow, environment, ref, nodeId }: NewTrust,
): boolean {
  const sameNode =
    trust.node_id === undefined || nodeId === undefined
      ? trust.node_id === nodeId
      : isSameNodeId(trust.node_id, nodeId);
  return (
    trust.issuer === issuer &&
    trust.repository.toLowerCase() === repository.toLowerCase() &&
    trust.workflow === workflow &&
    trust.job_workflow === jobWorkflow &&
    trust.environment === environment &&
    trust.ref === ref &&
    sameNode
  );
}

function describeTrust(trust: Trust): string {
  const { issuer, repository, workflow, job_workflow, environment, ref, node_id } = trust;
  const limits = [
    ...(job_workflow === undefined ? [] : [`by ${job_workflow}`]),
    ...(environment === undefined ? [] : [`environment ${environment}`]),
    ...(ref === undefined ? [] : [ref]),
    ...(node_id === undefined ? [] : [`node ${node_id}`]),
  ];
  return [`${repository} ${workflow}`, ...limits, issuer].join(', ');
}
