import type { ExtractedNode } from 'host-nodes';
import { extractHostNodes } from 'host-nodes';
import { entriesOf, type ExtractedFields } from 'registry-rules/host-node-entries';
import { decodeText, textFilesIn } from 'host-nodes/text-files';

/*
 * The registry's own extraction. It is larger than the rest of the command, so it is a file of its own, loaded for --dry-run
 * and after a publish.
 */

/** What the registry will read out of the archive, and store. */
export interface FoundHostNodes {
  status: 'success' | 'failed';
  reason?: string;
  nodes: FoundHostNode[];
  /** Statements that were skipped, with file and line. */
  notes: string[];
}

export interface FoundHostNode {
  name: string;
  /** Whether the pack lists it only under a condition that is unknown here. */
  conditional: boolean;
  fields: ExtractedFields;
  /** The fields that the registry leaves open, and why. */
  leftOpen: string[];
}

export async function hostNodesOf(
  contents: ReadonlyMap<string, { content: Buffer }>,
  node: string,
): Promise<FoundHostNodes> {
  const files = textsOf(contents);
  const found = extractHostNodes(files, { name: node });
  const { entries, problem } = entriesOf(found.nodes);
  const reason = problem ?? found.reason;
  return {
    status: reason === undefined ? found.status : 'failed',
    ...(reason !== undefined && { reason }),
    nodes: found.nodes.flatMap((node) => storedNode(node, entries.get(node.name))),
    notes: found.notes,
  };
}

/** As the registry reads an archive's files. */
function textsOf(contents: ReadonlyMap<string, { content: Buffer }>): Map<string, string | undefined> {
  const entries = [...contents];
  const chosen = textFilesIn(entries.map(([path, { content }]) => ({ path, bytes: content.length })));
  return new Map(
    entries.map(([path, { content }]) => [path, chosen.has(path) ? decodeText(path, content) : undefined]),
  );
}

const stored = {
  display_name: 'displayName',
  category: 'category',
  description: 'description',
  function: 'function',
  input_types: 'inputTypes',
  output_is_list: 'outputIsList',
  return_names: 'returnNames',
  return_types: 'returnTypes',
} as const;

function storedNode(node: ExtractedNode, fields: ExtractedFields | undefined): FoundHostNode[] {
  if (!fields) return [];
  const names = Object.keys(stored) as (keyof typeof stored)[];
  const dropped = names.filter((name) => node[stored[name]] !== undefined && fields[name] === null);
  const why = 'the registry does not store it, since it is too long or not valid Unicode';
  const leftOpen = [...node.open, ...dropped.map((name) => `${name}: ${why}`)];
  return [{ name: node.name, conditional: node.conditional, fields, leftOpen }];
}
