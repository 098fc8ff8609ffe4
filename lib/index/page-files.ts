import { hash } from 'node:crypto';
import {
  maxFilesAtOnce,
  type PublicFile,
  readFile,
  readText,
  refreshFile,
  withHostNodes,
} from '../bucket/public-file.ts';
import type { Context } from '../context.ts';
import { inParallel } from '../in-parallel.ts';
import { listVersions } from '../registry/node-versions.ts';
import { nodePagePath, versionPagePath } from '@node-registry/registry-rules/index-paths';
import type { IndexedNode } from '@node-registry/registry-rules/schemas/index-files';
import { nodePage } from '@node-registry/site/node-page';
import { hostNodesFile, nodeFile, readmeFile } from './node-files.ts';
import { currentSite } from './site.ts';

/*
 * The pages of nodes and versions, made from the node's files of the index. A page's last line contains its
 * revision, because HTML has no field for it. Each write reads the page, then the files, and overwrites only
 * the page that it read, which orders two writers as for the files (public-file.ts).
 */

interface Page {
  /** The node's data that all of its pages show: if it changes, all of them are written. */
  state: string;
  html: string;
}

const pageFile = (key: string): PublicFile<Page> => ({
  key,
  contentType: 'text/html; charset=utf-8',
  read: (text) => {
    const [, content, revision, state] = /^([\s\S]*)<!-- (\d+) (\w+) -->\n$/.exec(text) ?? [];
    if (content === undefined || state === undefined) return undefined;
    return { revision: Number(revision), content: { state, html: content } };
  },
  write: (revision, { state, html }) => `${html}<!-- ${revision} ${state} -->\n`,
});

/**
 * Updates the page of a node after the pages of its versions: of the named ones, or of all if the shared data
 * of the node changed, for example by a ban.
 */
export async function refreshPages(
  context: Context,
  nodeId: string,
  labels: Iterable<string>,
  onlyIfDifferent = false,
): Promise<string[]> {
  const known = (await readFile(context, pageFile(nodePagePath(nodeId))))?.state;
  const readNode = nodeReader(context, nodeId);
  const node = await readNode();
  if (!node) return [];
  const state = pageState(node);
  const site = currentSite();
  const written: string[] = [];
  const write = async (label?: string) => {
    const path = label === undefined ? nodePagePath(nodeId) : versionPagePath(nodeId, label);
    const next = async (current: Page | undefined) => {
      const node = await readNode();
      const isOffered = label === undefined || node?.versions.some(({ version }) => version === label);
      if (!node || !(isOffered || current)) return undefined;
      const version = label ?? node.latest_version?.version;
      const hostNodes = version ? await readFile(context, hostNodesFile(nodeId, version)) : undefined;
      const readme = label === undefined ? await readFile(context, readmeFile(nodeId)) : undefined;
      // The state that the pages of the versions have by now: a change made meanwhile finds another one here.
      return { state, html: nodePage(site, { node, hostNodes, readme }, label) };
    };
    const outcome = await withHostNodes(() => refreshFile(context, pageFile(path), next, onlyIfDifferent));
    if (outcome === 'written') written.push(path);
  };
  const others = known === state ? [] : await listVersions(context, nodeId);
  const all = new Set([...labels, ...others.map(({ version }) => version)]);
  await inParallel(all.values(), maxFilesAtOnce, write);
  await write();
  return written;
}

/** Loads a node's file again only if it has changed: it may have 5 MB, and all of up to 2,000 pages are made from it. */
function nodeReader(context: Context, nodeId: string): () => Promise<IndexedNode | undefined> {
  const { key, read } = nodeFile(nodeId);
  let last: Awaited<ReturnType<typeof readText>>;
  let node: IndexedNode | undefined;
  return async () => {
    const stored = await readText(context, key, last);
    if (stored !== last) node = stored && read(stored.text)?.content;
    last = stored;
    return node;
  };
}

/** They change too often to write the pages of all versions for them. */
const numbers: readonly string[] = [
  'downloads',
  'downloads_90_days',
  'downloads_by_day',
  'rating',
  'repo_stars',
  'search_ranking',
];

function pageState({ versions, latest_version, publisher, ...node }: IndexedNode): string {
  const { id, name, website, support } = publisher ?? {};
  const fields = Object.entries(node).filter(([field]) => !numbers.includes(field));
  const isLeft = latest_version === undefined && versions.length > 0;
  const shown = [fields, id, name, website, support, latest_version !== undefined, isLeft];
  return hash('sha256', JSON.stringify(shown)).slice(0, 16);
}
