import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../context.ts';
import type { NodeInput } from '@node-registry/registry-rules/schemas/node';
import type { NodeVersionInput } from '@node-registry/registry-rules/schemas/node-version';
import { dueShard } from '../store/due.ts';
import { type Changes, onRevision, withChanges } from '../store/items.ts';
import { nodeKey } from '../store/keys.ts';
import { transact, update, type Write } from '../store/write.ts';
import { isDownloadable, maxVersionBytes, readVersions, versionWrites } from './node-versions.ts';
import { historyOf, type NodeRecord, type NodeVersionRecord } from './records.ts';
import { requireFits } from './nodes.ts';

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
  input: NodeVersionInput;
  nodeChanges: Changes<NodeRecord>;
  actor: string;
  /** Writes of the same transaction. */
  also: readonly Write[];
}

/** Edits a published version, with its history. Undefined if a record changed since it was read. */
export async function editVersion(
  context: Context,
  { node, version, input, nodeChanges, actor, also }: Edit,
): Promise<NodeVersionRecord | undefined> {
  const { deprecated, changelog } = input;
  const changes = { deprecated, changelog };
  const result = withChanges(version, changes);
  requireFits(result, maxVersionBytes);
  if (isDeepStrictEqual([result, withChanges(node, nodeChanges)], [version, node])) return version;
  const versions = await readVersions(context, node.id);
  const change = {
    of: nodeKey(node.id),
    action: 'node-version edit',
    subject: `${node.id} ${version.version}`,
    detail: describe(changes),
  };
  const failed = await transact(context, [
    ...versionWrites(node, versions, [{ before: version, changes }], nodeChanges),
    historyOf(actor, change),
    ...also,
  ]);
  return failed.length === 0 ? result : undefined;
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
export async function extractAgain(context: Context, version: NodeVersionRecord): Promise<void> {
  if (version.extraction_tries === undefined || !isDownloadable(version)) return;
  const changes: Changes<NodeVersionRecord> = {
    host_node_extract_status: 'pending',
    host_node_extract_reason: null,
    extraction: null,
    extraction_tries: null,
    pending_shard: dueShard('host-nodes', version.id),
    pending_since: new Date().toISOString(),
  };
  await update<NodeVersionRecord>(context, version, changes, onRevision(version));
}
