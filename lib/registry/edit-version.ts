import { isDeepStrictEqual } from 'node:util';
import type { NodeInput } from '@node-registry/registry-rules/schemas/node';
import type { NodeVersionInput } from '@node-registry/registry-rules/schemas/node-version';
import type { Context } from '../context.ts';
import { note } from '../log.ts';
import { type Decision, decide, type Once } from '../store/decide.ts';
import { type Changes, type Item, namesIn, onRevision, withChanges } from '../store/items.ts';
import { begunVersionsKey, nodeKey, publisherKey } from '../store/keys.ts';
import { updating, type Write } from '../store/write.ts';
import { isIn, owe } from '../work/lanes.ts';
import { blockOf, may } from './may.ts';
import { isDownloadable, listVersions, maxVersionBytes, recordedChanges, rivalOf } from './node-versions.ts';
import { requireFits } from './nodes.ts';
import { dropping } from './pending-versions.ts';
import { presentPublisher, underPresentId } from './publishers.ts';
import {
  type Changed,
  type Actor,
  begunRecord,
  type NodeVersionRecord,
  nodeRecord,
  nodeVersionRecord,
  pending,
  withdrawn,
} from './records.ts';

/** The fields that a publisher may still change once a version has its archive. */
const editableFields = ['deprecated', 'changelog'] as const;

/**
 * Whether a publish only edits a version: a job that forgot to raise its version must get a 409, and not lose
 * its archive. So an edit names nothing of the node but its id, no other field of the version, and changes
 * something: some clients send `deprecated: false` with every publish.
 */
export function isEdit(
  before: NodeVersionRecord,
  { node, version }: { node: NodeInput; version: NodeVersionInput },
): boolean {
  const allowed: readonly string[] = ['version', ...editableFields];
  return (
    isDownloadable(before) &&
    namesIn(version).every((name) => allowed.includes(name)) &&
    namesIn(node).every((name) => name === 'id') &&
    editableFields.some(
      (name) => version[name] !== undefined && (version[name] || '') !== (before[name] || ''),
    )
  );
}

type Edit = Pick<NodeVersionInput, (typeof editableFields)[number]>;

export function edited(version: NodeVersionRecord, edit: Edit): NodeVersionRecord {
  const after = withChanges(version, edit);
  requireFits(after, maxVersionBytes);
  return after;
}

export function describeEdit({ deprecated, changelog }: Edit): string {
  return [
    ...(deprecated === undefined ? [] : [deprecated ? 'deprecated' : 'not deprecated']),
    ...(changelog === undefined ? [] : ['changelog']),
  ].join(', ');
}

/**
 * Requests another extraction of a version whose archive could not be fully read. Its publisher asks for that
 * by publishing it again, which changes nothing else: the archive never changes.
 */
export function extractAgain(version: NodeVersionRecord, { now }: Once): Write[] {
  const isEnded = !isIn('extract', version) || !version.tries;
  if (isEnded || !isDownloadable(version)) return [];
  const changes: Changes<NodeVersionRecord> = {
    host_node_extract_status: 'pending',
    host_node_extract_reason: null,
    extraction: null,
    ...owe('extract', version, version.publisher_id, now),
  };
  return [updating(version, changes, onRevision(version))];
}

interface NamedVersion {
  publisherId: string;
  nodeId: string;
  versionId: string;
  by: Actor;
  reason?: string | undefined;
}

const withdrawal = {
  status: withdrawn,
  status_reason: 'This version is withdrawn.',
  status_reason_code: 'withdrawn',
} as const;

/**
 * Takes a published version out of every list: those who name it still download it, and its label stays
 * taken. Drops a pending one: its label is free again.
 */
export function withdrawVersion(
  context: Context,
  request: NamedVersion,
): Promise<Changed<NodeVersionRecord>> {
  return changeNamed(context, request, 'withdraw version', (version) => {
    const { status, status_reason, status_reason_code } = version;
    if (status === withdrawn) return undefined;
    if (status === pending) return 'drop';
    return {
      ...withdrawal,
      ...(request.reason && { status_reason: request.reason }),
      before_withdrawal: { status, status_reason, status_reason_code },
    };
  });
}

export function restoreVersion(context: Context, request: NamedVersion): Promise<Changed<NodeVersionRecord>> {
  return changeNamed(context, request, 'restore version', ({ status, before_withdrawal }) => {
    if (status !== withdrawn) return undefined;
    return { status_reason: null, status_reason_code: null, ...before_withdrawal, before_withdrawal: null };
  });
}

/** Changes what a publisher may still change of a published version. */
export function editOwnVersion(
  context: Context,
  request: NamedVersion,
  edit: Edit,
): Promise<Changed<NodeVersionRecord>> {
  const named = { ...request, reason: describeEdit(edit) };
  return changeNamed(context, named, 'edit own version', (version) =>
    isDeepStrictEqual(edited(version, edit), version) ? undefined : edit,
  );
}

const entries = {
  'withdraw version': 'node-version withdraw',
  'restore version': 'node-version restore',
  'edit own version': 'node-version edit',
} as const;

function changeNamed(
  context: Context,
  { nodeId, versionId, by, reason, ...request }: NamedVersion,
  action: keyof typeof entries,
  changesOf: (version: NodeVersionRecord) => Changes<NodeVersionRecord> | 'drop' | undefined,
): Promise<Changed<NodeVersionRecord>> {
  const following = async ({ node }: { node: Item | undefined }) => {
    const listed = await listVersions(context, nodeId);
    const rival = rivalOf(nodeRecord(node), versionId, listed);
    return { version: listed.find(({ id }) => id === versionId), rival };
  };
  return underPresentId(request.publisherId, (publisherId) => {
    note({ publisher_id: publisherId, node_id: nodeId });
    const keys = { publisher: publisherKey(publisherId), begun: begunVersionsKey(publisherId) };
    const first = { ...keys, node: nodeKey(nodeId), block: blockOf(by) };
    return decide(context, { first, following }, (found, once): Decision<Changed<NodeVersionRecord>> => {
      const { node, version } = may(by, action, {
        block: found.block,
        publisher: presentPublisher(found.publisher, publisherId),
        node: nodeRecord(found.node),
        nodeId,
        version: nodeVersionRecord(found.version),
      });
      const changes = changesOf(version);
      if (changes === undefined) return { result: { result: version, changed: false } };
      const entry = { by, action: entries[action], detail: reason };
      if (changes === 'drop') {
        const writes = dropping(node, version, begunRecord(found.begun), entry, once);
        return { writes, result: { result: version, changed: true } };
      }
      const writes = recordedChanges(node, found.rival, [{ before: version, changes }], entry, once);
      return { writes, result: { result: withChanges(version, changes), changed: true } };
    });
  });
}
