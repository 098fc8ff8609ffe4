import { readReadme } from '../archives/readme.ts';
import { findObject } from '../bucket/bucket.ts';
import { refreshFile } from '../bucket/public-file.ts';
import { readText } from '../bucket/text-objects.ts';
import type { Context } from '../context.ts';
import { renderReadme } from 'site/readme';
import type { IndexedReadme } from 'registry-rules/schemas/index-files';
import { nodePath, readmePath } from 'registry-rules/index-paths';
import { readNode } from './write-files.ts';
import { latestShown } from './views.ts';

/**
 * Brings the README of a node up to date with its latest version. Published bytes never change, so an archive is read
 * once; with `again` it is read even if the file has its README.
 */
export function refreshReadme(
  context: Context,
  nodeId: string,
  again = false,
): Promise<'written' | 'unchanged'> {
  const next = async (current: IndexedReadme | undefined) => {
    const owned = await readNode(context, nodeId);
    const latest = owned && latestShown(owned.node, owned.publisher);
    if (!owned) return undefined;
    // As with the node's own file, which is written first.
    if (!current && !latest && !(await readText(context, nodePath(nodeId)))) return undefined;
    const node_id = owned.node.id;
    if (!latest) return { node_id, text: '' };
    const { version, sha256 } = latest;
    // One that an earlier release wrote has no HTML.
    const isKnown = current?.version === version && current.sha256 === sha256 && current.html !== undefined;
    if (!again && isKnown) return current;
    const archive = latest.archive_key === undefined ? undefined : await findObject(latest.archive_key);
    const readme = archive && (await readReadme(archive));
    const { repository } = owned.node;
    const html = readme ? renderReadme(readme.text, { path: readme.path, repository }) : '';
    return {
      node_id,
      version,
      ...(sha256 !== undefined && { sha256 }),
      ...(readme && { path: readme.path, is_cut: readme.isCut }),
      text: readme?.text ?? '',
      html,
    };
  };
  return refreshFile(context, readmePath(nodeId), next, { onlyIfDifferent: again });
}
