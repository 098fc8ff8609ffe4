import { isDeepStrictEqual } from 'node:util';
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
 * its archive. So an edit names no other field of the version. If it names only a changelog, as such a job
 * may, it must name no field of the node except its id.
 */
export function isEdit({ node, version }: { node: NodeInput; version: NodeVersionInput }): boolean {
  const edited = namesIn(version).filter((name) => name !== 'version');
  const allowed: readonly string[] = editableFields;
  return (
    edited.length > 0 &&
    edited.every((name) => allowed.includes(name)) &&
    (edited.includes('deprecated') || namesIn(node).every((name) => name === 'id'))
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
  nodeChanges: Changes<NodeRecord>;
  actor: string;
}

/** A published version after an edit, and the writes, with its history; none if nothing changes. */
export function editVersion(
  { node, version, versions, input, nodeChanges, actor }: Edit,
  once: Once,
): { edited: NodeVersionRecord; writes: Write[] } {
  const { deprecated, changelog } = input;
  const changes = { deprecated, changelog };
  const edited = withChanges(version, changes);
  requireFits(edited, maxVersionBytes);
  if (isDeepStrictEqual([edited, withChanges(node, nodeChanges)], [version, node]))
    return { edited: version, writes: [] };
  const history = {
    of: nodeKey(node.id),
    action: 'node-version edit',
    subject: `${node.id} ${version.version}`,
    detail: describe(changes),
  };
  const writes = versionWrites(node, versions, [{ before: version, changes }], nodeChanges);
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
