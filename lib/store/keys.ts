/*
 * One table. Every access pattern, and the key that serves it:
 *
 *   publisher with its members        PUBLISHER#<folded id>     PUBLISHER
 *   personal access tokens of one     PUBLISHER#<folded id>     TOKEN#<sha256>              one query lists them
 *   CI jobs that one trusts           PUBLISHER#<folded id>     TRUST#<id>                  one query lists them
 *   invitations of one                PUBLISHER#<folded id>     INVITATION#<sha256>         expire by `ttl`
 *   how often one got any of these    PUBLISHER#<folded id>     CREDENTIALS                 the index isn't told
 *   publishers of a person            PERSON#<member id>        PUBLISHER#<folded id>       one query lists them
 *   and how many the person made      PERSON#<member id>        PERSON
 *   publishers that people made       NEW_PUBLISHERS            <day>                       expires by `ttl`
 *   versions that it began to publish PENDING#<folded>          VERSIONS                    an entry each, and new nodes by day
 *   nodes of a publisher              OWNED#<folded id>         NODE#<folded id>            one query lists them
 *   node                              NODE#<folded id>          NODE
 *   numbers of a node                 NODE#<folded id>          NUMBERS                     apart from its revision
 *   versions of a node                NODE#<folded id>          VERSION#<normal form>       one query lists them
 *   their states, without the rest    index `versions`          <createdAt>                 one query, up to date
 *   host nodes of a node version      NODE#<folded id>#<normal> HOST_NODE#<name>            one query lists them
 *   responses kept for idempotency    IDEMPOTENCY#<sha256>      ANSWER, PART#<attempt>#<n>  expire by `ttl`
 *   ID tokens that were used          ID_TOKEN#<sha256>         USE                         expire by `ttl`
 *   account of a caller who pays      CALLER#<sha256>           ACCOUNT                     sums, open attempts, limits
 *   callers with limits of their own  CALLERS                   LIMITS#<caller sha256>       one query lists them
 *   uploads that a caller was asked for CALLER#<sha256>         UPLOADS                     expire by `ttl`
 *   history of any of these           <its pk>#REGISTRY         HISTORY#<time>#<id>         one query lists it
 *   and what its owners changed       <its pk>#OWNERS           HISTORY#<time>#<id>         one query lists it
 *   attempts of a caller's day        USAGE#<day>#<caller>#<n>  <time>#<attempt>            4 queries, expire by `ttl`
 *   callers of a day                  USAGE#<day>#<0 to f>      CALLER#<caller sha256>      16 queries, expire by `ttl`
 *   credits of all callers of a day   STAGE_DAY                 CREDITS                     the visit adds them up
 *   task that notifies this service   TASK#<secret's sha256>    TASK                        expires by `ttl`
 *   notifications of a task           TASK#<secret's sha256>    NOTIFICATION#<4 digits>     expire by `ttl`
 *   what owes work in a lane          index `pending`           shards <lane>-0 to -3       sparse, by the time to look at it
 *   what was given up in it           index `pending`           shard <lane>-given-up       sparse, for the administration
 *   task of a buyer and a provider's id RESULT#<sha256>           TASK                        expires by `ttl`
 *   public keys of notifications      SIGNING#KEYS              KEYS                        the current ones
 *   release that the records are of   STAGE                     RELEASE                     read before a deployment
 *   sign of life of the engine        HEARTBEAT                 HEARTBEAT                   the stream passes it on
 *
 * A node's key is its *folded* id, so two ids that differ only in case or in -, _ and . share one item: the
 * item reserves its own name, and no second record can get out of step with it. Members are stored inside the
 * publisher, and a copy of the latest version inside the node, so each operation can derive all its keys at
 * once and read them in one batch.
 *
 * A partition accepts 1,000 writes a second. A paid attempt writes its caller's account twice, so one caller
 * can start 500 tasks a second, and callers don't share partitions. An attempt's record takes four writes,
 * including the task's notified end, so a caller's day has four partitions of them. The callers of a day are
 * listed in sixteen partitions, by the first digit of the hash, because at midnight all of them are listed
 * again.
 */

import { hash } from 'node:crypto';
import { foldNodeId } from '@node-registry/registry-rules/names';
import type { Partition } from '../deployment.ts';

/** Without its last part, such as `trustKey(publisherId, '')`, a key is the common beginning of several. */
export interface Key {
  pk: string;
  sk: string;
}

export function keyOf({ pk, sk }: { pk?: unknown; sk?: unknown }): Key {
  return { pk: String(pk), sk: String(sk) };
}

/** A key as one string, for maps and sets. */
export function keyName({ pk, sk }: { pk?: unknown; sk?: unknown }): string {
  return `${pk}\n${sk}`;
}

/** The partition keys of each kind, for the permissions of a role. */
export const partitions: Record<Partition, string> = {
  publishers: 'PUBLISHER#*',
  nodes: 'NODE#*',
  owned: 'OWNED#*',
  pending: 'PENDING#*',
  idTokens: 'ID_TOKEN#*',
  idempotency: 'IDEMPOTENCY#*',
  callers: 'CALLER#*',
  blocks: 'BLOCK#*',
  people: 'PERSON#*',
  newPublishers: 'NEW_PUBLISHERS',
  usage: 'USAGE#*',
  tasks: 'TASK#*',
  results: 'RESULT#*',
  stageDay: 'STAGE_DAY',
  signingKeys: 'SIGNING#KEYS',
  heartbeat: 'HEARTBEAT',
};

export const pendingIndex = 'pending';

/** It has what decides which version is the latest, and is as up to date as the table. */
export const versionsIndex = 'versions';

/** Ids of nodes and publishers are folded in the same way. */
function publisherPartition(publisherId: string): string {
  return `PUBLISHER#${foldNodeId(publisherId)}`;
}

export function publisherKey(publisherId: string): Key {
  return { pk: publisherPartition(publisherId), sk: 'PUBLISHER' };
}

/** The publishers that a person has made are counted there. */
export function personKey(memberId: string): Key {
  return { pk: `PERSON#${memberId}`, sk: 'PERSON' };
}

export function membershipKey(memberId: string, publisherId: string): Key {
  return { pk: personKey(memberId).pk, sk: publisherPartition(publisherId) };
}

export function newPublishersKey(day: string): Key {
  return { pk: 'NEW_PUBLISHERS', sk: day };
}

/** Written with each new token, trust or invitation. */
export function credentialsKey(publisherId: string): Key {
  return { pk: publisherPartition(publisherId), sk: 'CREDENTIALS' };
}

export function invitationKey(publisherId: string, hash: string): Key {
  return { pk: publisherPartition(publisherId), sk: `INVITATION#${hash}` };
}

/** Separate from the publisher: the finalizer may change these, but nothing of a publisher. */
export function begunVersionsKey(publisherId: string): Key {
  return { pk: `PENDING#${foldNodeId(publisherId)}`, sk: 'VERSIONS' };
}

export function personalAccessTokenKey(publisherId: string, hash: string): Key {
  return { pk: publisherPartition(publisherId), sk: `TOKEN#${hash}` };
}

export function trustKey(publisherId: string, id: string): Key {
  return { pk: publisherPartition(publisherId), sk: `TRUST#${id}` };
}

/** Shared by all publishers: a token is used once, even if other publishers trust its job. */
export function idTokenKey(hash: string): Key {
  return { pk: `ID_TOKEN#${hash}`, sk: 'USE' };
}

/** Apart from the publisher's tokens, so that a role may list and move nodes alone. */
export function ownedNodeKey(publisherId: string, nodeId: string): Key {
  return { pk: `OWNED#${foldNodeId(publisherId)}`, sk: nodeKey(nodeId).pk };
}

export function nodeKey(nodeId: string): Key {
  return { pk: `NODE#${foldNodeId(nodeId)}`, sk: 'NODE' };
}

export function numbersKey(nodeId: string): Key {
  return { pk: nodeKey(nodeId).pk, sk: 'NUMBERS' };
}

export function nodeVersionKey(nodeId: string, version: string): Key {
  return { pk: `NODE#${foldNodeId(nodeId)}`, sk: `VERSION#${version}` };
}

/** What people wrote for all host nodes of a version. The index isn't told of a change. */
export function hostNodeTotalsKey(nodeId: string, version: string): Key {
  return { pk: hostNodeKey(nodeId, version, '').pk, sk: 'HOST_NODES' };
}

/** The host nodes that admins have banned, in every version of the node. */
export function hostNodeBansKey(nodeId: string): Key {
  return { pk: nodeKey(nodeId).pk, sk: 'HOST_NODE_BANS' };
}

export function hostNodeKey(nodeId: string, version: string, name: string): Key {
  return { pk: `NODE#${foldNodeId(nodeId)}#${version}`, sk: `HOST_NODE#${name}` };
}

type Side = 'OWNERS' | 'REGISTRY';

export function historyKey(of: Key, side: Side, at: string, id: string): Key {
  const { pk, sk } = historyKeysOf(of, side);
  return { pk, sk: `${sk}${at}#${id}` };
}

/**
 * The common prefix of the keys of one side of a record's history. With the index of versions a partition holds at
 * most 10 GB. Owners who fill theirs hinder only themselves: a ban is written elsewhere.
 */
export function historyKeysOf({ pk }: Key, side: Side): Key {
  return { pk: `${pk}#${side}`, sk: 'HISTORY#' };
}

/** The publisher, node or version that a record describes or belongs to. */
export function subjectOf({ pk, sk }: Key) {
  const [kind, id = '', ofVersion] = pk.split('#');
  const [subject, ...rest] = sk.split('#');
  if (kind === 'PUBLISHER' && subject === 'PUBLISHER') return { subject, id } as const;
  if (kind !== 'NODE') return undefined;
  if (subject === 'NODE' || subject === 'HOST_NODE_BANS') return { subject, id } as const;
  if (subject !== 'VERSION' && subject !== 'HOST_NODE') return undefined;
  return { subject, id, label: ofVersion ?? rest.join('#') } as const;
}

export function idempotencyKey(hash: string): Key {
  return { pk: `IDEMPOTENCY#${hash}`, sk: 'ANSWER' };
}

export function idempotencyPartKey({ pk }: Key, attempt: string, index: number): Key {
  return { pk, sk: `PART#${attempt}#${index}` };
}

export function accountKey(callerHash: string): Key {
  return { pk: `CALLER#${callerHash}`, sk: 'ACCOUNT' };
}

/** Apart from the account, so that the registry reads nobody's spending. */
export function blockKey(callerHash: string): Key {
  return { pk: `BLOCK#${callerHash}`, sk: 'BLOCK' };
}

export function limitsKey(callerHash: string): Key {
  return { pk: 'CALLERS', sk: `LIMITS#${callerHash}` };
}

/** Apart from the account, so that nothing but open attempts makes that one large. */
export function uploadsKey(callerHash: string): Key {
  return { pk: `CALLER#${callerHash}`, sk: 'UPLOADS' };
}

/** From the key of any record of a caller. */
export function callerHashOf({ pk }: Pick<Key, 'pk'>): string {
  return pk.slice('CALLER#'.length);
}

const usageShards = [0, 1, 2, 3];

/** The attempts of a caller and a day. Each partition is sorted by the time when they began. */
export function attemptKey(callerHash: string, name: string): Key {
  // The name ends with a character of the attempt's random id.
  const shard = name.charCodeAt(name.length - 1) % usageShards.length;
  return { pk: usagePartition(callerHash, name.slice(0, 10), shard), sk: name };
}

export function usagePartitions(callerHash: string, day: string): string[] {
  return usageShards.map((shard) => usagePartition(callerHash, day, shard));
}

function usagePartition(callerHash: string, day: string, shard: number): string {
  return `USAGE#${day}#${callerHash}#${shard}`;
}

export function dayCallerKey(callerHash: string, day: string): Key {
  return { pk: dayCallersPartition(day, callerHash.slice(0, 1)), sk: `CALLER#${callerHash}` };
}

/** The common prefix of the keys of a day's callers, in each of its partitions. */
export function dayCallersOf(day: string): Key[] {
  return [...'0123456789abcdef'].map((shard) => ({ pk: dayCallersPartition(day, shard), sk: 'CALLER#' }));
}

function dayCallersPartition(day: string, shard: string): string {
  return `USAGE#${day}#${shard}`;
}

/** Only the hash of a task's secret is stored: the secret itself lets its holder report as the provider. */
export function taskKey(hash: string): Key {
  return { pk: `TASK#${hash}`, sk: 'TASK' };
}

/** Only who knows the buyer and the provider's id finds the task. */
export function namedTaskKey(callerHash: string, provider: string, taskId: string): Key {
  return { pk: `RESULT#${hash('sha256', JSON.stringify([callerHash, provider, taskId]))}`, sk: 'TASK' };
}

/** From the key of a task's record, or of its notifications. */
export function taskHashOf({ pk }: Pick<Key, 'pk'>): string {
  return pk.slice('TASK#'.length);
}

/** The common prefix of the keys of a task's notifications. */
export function notificationsOf(hash: string): Key {
  return { pk: `TASK#${hash}`, sk: 'NOTIFICATION#' };
}

export function notificationKey(hash: string, sequence: number): Key {
  return { pk: `TASK#${hash}`, sk: `NOTIFICATION#${String(sequence).padStart(4, '0')}` };
}

/** Separate from the tasks, so that only the function that signs may write its public keys. */
export const signingKeysKey: Key = { pk: 'SIGNING#KEYS', sk: 'KEYS' };

/** Written each minute, so that the table's stream always has something to pass on. Nothing reads it. */
export const heartbeatKey: Key = { pk: 'HEARTBEAT', sk: 'HEARTBEAT' };

/** Apart from everything that a request writes, because every paid request reads it. */
export const stageDayKey: Key = { pk: 'STAGE_DAY', sk: 'CREDITS' };

/** Functions don't read it: deployments and the administration do. */
export const releaseKey: Key = { pk: 'STAGE', sk: 'RELEASE' };

/** Whether two ids name the same node: case doesn't matter, punctuation does. */
export function isSameNodeId(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
