import type { NodeInput } from '@node-registry/registry-rules/schemas/node';
import type { NodeVersionInput } from '@node-registry/registry-rules/schemas/node-version';
import type { Once } from '../store/decide.ts';
import { dueShard } from '../store/due.ts';
import { type Changes, onRevision, withChanges } from '../store/items.ts';
import { nodeKey } from '../store/keys.ts';
import { updating, type Write } from '../store/write.ts';
import { isDownloadable, maxVersionBytes, versionWrites } from './node-versions.ts';
import { requireFits } from './nodes.ts';
import { historyOf, type NodeRecord, type NodeVersionRecord } from './records.ts';

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

function namesIn(input: object): string[] {
  return Object.entries(input).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

interface Edit {
  node: NodeRecord;
  version: NodeVersionRecord;
  /** All versions of the node. */
  versions: readonly NodeVersionRecord[];
  input: NodeVersionInput;
  actor: string;
}

/** A published version after an edit, and the writes, with its history. */
export function editVersion(
  { node, version, versions, input: { deprecated, changelog }, actor }: Edit,
  once: Once,
): { edited: NodeVersionRecord; writes: Write[] } {
  const changes = { deprecated, changelog };
  const edited = withChanges(version, changes);
  requireFits(edited, maxVersionBytes);
  const history = {
    of: nodeKey(node.id),
    action: 'node-version edit',
    subject: `${node.id} ${version.version}`,
    detail: describe(changes),
  };
  const writes = versionWrites(node, versions, [{ before: version, changes }]);
  return { edited, writes: [...writes, historyOf(actor, history, once)] };
}

function describe({ deprecated, changelog }: Pick<NodeVersionInput, 'deprecated' | 'changelog'>): string {
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
  if (version.extraction_tries === undefined || !isDownloadable(version)) return [];
  const changes: Changes<NodeVersionRecord> = {
    host_node_extract_status: 'pending',
    host_node_extract_reason: null,
    extraction: null,
    extraction_tries: null,
    pending_shard: dueShard('host-nodes', version.id),
    pending_since: new Date(now).toISOString(),
  };
  return [updating<NodeVersionRecord>(version, changes, onRevision(version))];
}
