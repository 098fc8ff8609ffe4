import type { StatusReasonCode } from '@node-registry/registry-rules/schemas/node-version';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { log } from '../log.ts';
import { decide, type Found } from '../store/decide.ts';
import { type Changes, onRevision } from '../store/items.ts';
import {
  begunVersionsKey,
  keyOf,
  nodeKey,
  personalAccessTokenKey,
  publisherKey,
  trustKey,
} from '../store/keys.ts';
import { updating, write } from '../store/write.ts';
import { lanes, nextLook, owe, type Owing, timeText } from '../work/lanes.ts';
import { sendSoon } from '../work/send.ts';
import { versionWrites } from './node-versions.ts';
import { type AnswerOf, closedBy } from './may.ts';
import { dropping, forgetPending } from './pending-versions.ts';
import {
  begunRecord,
  credentialRecord,
  type NodeVersionRecord,
  nodeRecord,
  nodeVersionRecord,
  pending,
  publisherRecord,
} from './records.ts';

/*
 * The states of a version once it is registered. A pending one owes the lane `finalize`, then `extract`:
 *
 *   pending ──activate──> active, shown by its node if it is the latest, owes its extraction
 *     │  ▲
 *     │  └── reject, waitOn
 *     └── dropVersion, a day after its publish
 *
 * Each arrow is one function and one conditional write or transaction. Finalizers of one upload may run at the same time:
 * if two take the same arrow, the second one's condition fails, and it looks again. One that dies is repeated by the lane.
 */

/** Why a version stays pending, for a program and for its publisher. */
export interface PendingReason {
  status_reason_code: StatusReasonCode;
  status_reason: string;
}

/** A publisher may put this many rejected archives to one URL; then a publish makes a new URL. */
const maxRejections = 5;

/** Whether it has waited for its upload for a day. */
export function isOverdue({ at = '' }: NodeVersionRecord): boolean {
  return Date.now() >= Date.parse(at) + lanes.finalize.ageSeconds.until * 1000;
}

/** Whether this object was rejected, or its signed URL is used up. */
export function wasRejected({ rejected_objects = [] }: NodeVersionRecord, objectVersion: string): boolean {
  return rejected_objects.includes(objectVersion) || rejected_objects.length >= maxRejections;
}

/** All that a version's activation depends on. */
function readsOf({ publisher_id, node_id, token_hash = '', trust_id, ...version }: NodeVersionRecord) {
  return {
    version: keyOf(version),
    node: nodeKey(node_id),
    publisher: publisherKey(publisher_id),
    credential:
      trust_id === undefined
        ? personalAccessTokenKey(publisher_id, token_hash)
        : trustKey(publisher_id, trust_id),
  };
}

/** `moving`: its publisher has moved, with its credentials, and the version follows in seconds. `superseded`: it has changed. */
type Obstructed = PendingReason | 'moving' | 'superseded';

/** The reason, apart from its archive, that keeps a version from becoming active. */
export function obstacleTo(context: Context, before: NodeVersionRecord): Promise<Obstructed | undefined> {
  return decide(context, { first: readsOf(before) }, (found) => ({ result: obstacleIn(found, before) }));
}

function obstacleIn(
  found: Found<ReturnType<typeof readsOf>>,
  before: NodeVersionRecord,
): Obstructed | undefined {
  const version = nodeVersionRecord(found.version);
  if (!isAwaited(version, before)) return 'superseded';
  const publisher = publisherRecord(found.publisher);
  if (publisher?.moved_to !== undefined) return 'moving';
  const answer = closedBy(undefined, 'activate version', {
    publisher,
    usedCredential: credentialRecord(found.credential),
    node: nodeRecord(found.node),
    version,
  });
  return answer && pendingBecause(...obstacles[answer](version?.trust_id === undefined));
}

function isAwaited(version: NodeVersionRecord | undefined, before: NodeVersionRecord): boolean {
  return (
    version?.id === before.id &&
    version.status === pending &&
    version.upload_id === before.upload_id &&
    version.publisher_id === before.publisher_id
  );
}

type Obstacle = readonly [code: StatusReasonCode, sentence: string, remedy?: string];

const bannedPublisher = (): Obstacle => ['publisher_banned', 'The publisher is banned.'];
const withdrawnNode = (): Obstacle => ['node_deleted', 'The node is withdrawn.'];
const transferredNode = (): Obstacle => [
  'transferred',
  'The node belongs to another publisher than the one that began this version.',
];

const obstacles = {
  'publisher gone': bannedPublisher,
  'banned publisher': bannedPublisher,
  'node gone': withdrawnNode,
  'withdrawn node': withdrawnNode,
  'banned node': () => ['node_banned', 'The node is banned.'],
  // A node that moves takes its versions along, later, and not its first publisher's credentials. Revoked ones stay.
  'node of another publisher': transferredNode,
  'credential gone': transferredNode,
  'revoked credential': (isToken) =>
    isToken
      ? [
          'token_revoked',
          'The token that this version was published with is revoked.',
          'Publish this version again with another one.',
        ]
      : ['trust_revoked', 'The publisher no longer trusts the workflow that published it.'],
  'former member': () => ['member_removed', 'Who published it is no longer a member of the publisher.'],
} as const satisfies Record<AnswerOf<'activate version'>, (isToken: boolean) => Obstacle>;

function pendingBecause(
  status_reason_code: StatusReasonCode,
  sentence: string,
  remedy = 'Once that has changed, publish this version again.',
): PendingReason {
  return { status_reason_code, status_reason: `The archive was not published: ${sentence} ${remedy}` };
}

/** The version stays pending until the next look, and its publisher can read why. False if it has changed. */
export async function waitOn(
  context: Context,
  version: NodeVersionRecord,
  changes: Changes<NodeVersionRecord> = {},
): Promise<boolean> {
  const waiting = {
    ...changes,
    tries: 0,
    pending_since: timeText(nextLook('finalize', version, Date.now())),
  };
  return write(context, updating(version, waiting, onRevision(version)));
}

/** Rejects these bytes. The reason mentions it if the URL accepts no more archives. False if it has changed. */
export function reject(
  context: Context,
  before: NodeVersionRecord,
  objectVersion: string,
  problem: string,
): Promise<boolean> {
  return decide(context, { first: { item: keyOf(before) } }, ({ item }) => {
    const version = nodeVersionRecord(item);
    if (!version || !isAwaited(version, before)) return { result: false };
    // By another finalizer.
    if (wasRejected(version, objectVersion)) return { result: true };
    const rejected_objects = [...(version.rejected_objects ?? []), objectVersion];
    const usedUp = `An upload address accepts ${maxRejections} archives. Publish again for a new one.`;
    const changes: Changes<NodeVersionRecord> = {
      status_reason_code: 'archive_rejected',
      status_reason: rejected_objects.length < maxRejections ? problem : `${problem} ${usedUp}`,
      rejected_objects,
    };
    return { writes: [updating(version, changes, onRevision(version))], result: true };
  });
}

/** Its label is free again. False if it has changed. */
export function dropVersion(context: Context, before: NodeVersionRecord, why?: string): Promise<boolean> {
  const { node_id, publisher_id } = before;
  const first = { version: keyOf(before), node: nodeKey(node_id), begun: begunVersionsKey(publisher_id) };
  return decide(context, { first }, (found, once) => {
    const [version, node] = [nodeVersionRecord(found.version), nodeRecord(found.node)];
    if (!version || !node || !isAwaited(version, before)) return { result: false };
    const detail = `It was not published within a day (${why ?? version.status_reason_code}).`;
    const by = { operator: 'finalizeUpload', publicReason: detail };
    return { writes: dropping(node, version, begunRecord(found.begun), { by, detail }, once), result: true };
  });
}

type Published = Pick<NodeVersionRecord, 'archive_key' | 'size_bytes' | 'sha256'>;

/** Makes a version active, and has its host nodes read. False if it may not become active, or has changed. */
export async function activate(
  context: Context,
  version: NodeVersionRecord,
  archive: Published,
): Promise<boolean> {
  const { publisher_id: publisherId, node_id: nodeId, version: label } = version;
  const owing = await activation(context, version, archive).catch((error: unknown) => {
    // Concurrent edits that fit alone can leave no room for another latest version: the node keeps its own.
    if (!(error instanceof ApiError) || error.code !== 'record_too_large') throw error;
    log('warn', 'latest_version_too_large', { node_id: nodeId, version: label });
    return activation(context, version, archive, false);
  });
  if (!owing) return false;
  const isForgotten = forgetPending(context, { publisherId, nodeId, version: label });
  await Promise.all([isForgotten, sendSoon(context, 'extract', owing)]);
  return true;
}

/**
 * One transaction makes a version active, has its node show the latest one, and owes the extraction. Publisher and
 * credential are read right before, but aren't part of it: a transaction that checks them would make all uploads of a
 * publisher or of a token wait for each other. A ban is written before the versions that it bans. So an activation that
 * read the earlier state fails its condition or is banned a moment later. A credential revoked in that moment stays so
 * after it.
 */
function activation(
  context: Context,
  before: NodeVersionRecord,
  archive: Published,
  isShown = true,
): Promise<Owing | undefined> {
  return decide(context, { first: readsOf(before) }, (found, { now }) => {
    const [version, node] = [nodeVersionRecord(found.version), nodeRecord(found.node)];
    if (!version || !node || obstacleIn(found, before)) return { result: undefined };
    const owing = owe('extract', version, version.publisher_id);
    const changes: Changes<NodeVersionRecord> = {
      status: 'NodeVersionStatusActive',
      status_reason: null,
      status_reason_code: null,
      ...archive,
      upload_id: null,
      rejected_objects: null,
      published_at: new Date(now).toISOString(),
      ...owing,
    };
    const writes = isShown
      ? versionWrites(node, [], [{ before: version, changes }])
      : [updating(node, {}, onRevision(node)), updating(version, changes, onRevision(version))];
    return { writes, result: { ...keyOf(version), ...owing } };
  });
}
