import { extractHostNodes } from '@node-registry/host-nodes';
import { entriesOf, type ExtractedFields } from '@node-registry/registry-rules/host-node-entries';
import { decodeText, textFilesIn } from '@node-registry/host-nodes/text-files';

/*
 * The registry's own extraction. It is larger than the rest of the command, so it is a separate file, loaded
 * for --dry-run and after a publish.
 */

/** The nodes that the registry will read from the archive, and store. */
export interface FoundHostNodes {
  status: 'success' | 'failed';
  reason?: string;
  nodes: FoundHostNode[];
  /** Skipped statements, with file and line. */
  notes: string[];
}

export interface FoundHostNode {
  name: string;
  fields: ExtractedFields;
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
    nodes: [...entries].map(([name, fields]) => ({ name, fields })),
    notes: found.notes,
  };
}

/** Reads the texts as the registry reads an archive's files. */
function textsOf(contents: ReadonlyMap<string, { content: Buffer }>): Map<string, string | undefined> {
  const entries = [...contents];
  const chosen = textFilesIn(entries.map(([path, { content }]) => ({ path, bytes: content.length })));
  return new Map(
    entries.map(([path, { content }]) => [path, chosen.has(path) ? decodeText(path, content) : undefined]),
  );
}
