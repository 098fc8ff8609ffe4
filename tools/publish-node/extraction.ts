import { extractHostNodes } from '../../lib/extraction/extract-host-nodes.ts';
import type { ExtractedNode } from '../../lib/extraction/describe-node.ts';
import { readFiles } from '../extraction/read-pack.ts';

/*
 * The registry's own extraction, for --dry-run. It is larger than the rest of the command, so it is a file of its own in
 * the package, and nothing else loads it.
 */

/** What the registry will read out of the archive; fields that it leaves open are named in `open`. */
export interface FoundHostNodes {
  status: 'success' | 'failed';
  reason?: string;
  nodes: Omit<ExtractedNode, 'conditional' | 'inputNames'>[];
}

/** As long as the registry takes. */
const maxMilliseconds = 9_000;

export async function hostNodesOf(
  folder: string,
  paths: readonly string[],
  node: string,
): Promise<FoundHostNodes> {
  const files = await readFiles(folder, paths);
  const end = Date.now() + maxMilliseconds;
  const { status, reason, nodes } = extractHostNodes(files, { name: node, expired: () => Date.now() > end });
  return {
    status,
    ...(reason !== undefined && { reason }),
    nodes: nodes.map(({ conditional: _, inputNames: __, ...shown }) => shown),
  };
}
