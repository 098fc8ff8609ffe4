import { json, maxFilesAtOnce, readFile, refreshFile, withHostNodes } from '../bucket/public-file.ts';
import type { Context } from '../context.ts';
import { allEnded, inParallel } from '../in-parallel.ts';
import { hostNodesFile, nodeFile } from './node-files.ts';
import { catalogPath, configPath, pieceOf } from '@node-registry/registry-rules/index-paths';
import { foldNodeId } from '@node-registry/registry-rules/names';
import type { HostNode } from '@node-registry/registry-rules/schemas/host-node';
import type {
  CatalogEntry,
  CatalogPiece,
  IndexConfig,
} from '@node-registry/registry-rules/schemas/index-files';
import { entryOf } from '@node-registry/site/entry';

/* The catalog of all nodes: its pieces, and the config with their number. */

/** The number of pieces in a new stage's catalog; `admin index rebuild` gives a larger registry more. */
const firstPieces = 16;

export const configFile = json<IndexConfig>(configPath);
export const pieceFile = (path: string) => json<CatalogPiece>(path, 'nodes');

/**
 * The config file, created with the first publisher of a stage together with empty pieces. `change` returns
 * the new fields. A catalog grows in three steps, so that no line is lost: the config announces the next
 * number of pieces, and every writer then writes into both sizes; the pieces are filled; then readers switch
 * to them.
 */
export async function updateConfig(
  context: Context,
  change: (current: IndexConfig) => IndexConfig = (current) => current,
): Promise<IndexConfig> {
  let config: IndexConfig = { version: 1, catalog_pieces: firstPieces, updated_at: new Date().toISOString() };
  const next = async (stored: IndexConfig | undefined) => {
    // A config of another layout counts as absent.
    const current =
      Number.isSafeInteger(stored?.catalog_pieces) && stored?.version === 1 ? stored : undefined;
    if (!current) await createPieces(context, firstPieces);
    config = change(current ?? config);
    return config;
  };
  await refreshFile(context, configFile, next, true);
  return config;
}

/** Creates every piece, because a missing file is never cached: each search would request it again. */
async function createPieces(context: Context, pieces: number): Promise<void> {
  const next = async (current: CatalogPiece | undefined) => (current ? undefined : { nodes: [] });
  const create = (_: unknown, piece: number) =>
    refreshFile(context, pieceFile(catalogPath(pieces, piece)), next);
  await allEnded(Array.from({ length: pieces }, create));
}

/** The paths of the pieces with the lines of some nodes, and whose. While the catalog grows, a line is in two of them. */
export async function piecesWith(
  context: Context,
  nodeIds: readonly string[],
): Promise<Map<string, string[]>> {
  const { catalog_pieces, next_pieces = catalog_pieces } = await updateConfig(context);
  const byPath = (pieces: number) =>
    Map.groupBy(nodeIds, (nodeId) => catalogPath(pieces, pieceOf(nodeId, pieces)));
  return new Map([...byPath(catalog_pieces), ...byPath(next_pieces)]);
}

/** Updates some lines of a piece; with `andOthers`, also the lines that are already in it. */
export function refreshPiece(
  context: Context,
  path: string,
  nodeIds: readonly string[],
  andOthers = false,
): Promise<'written' | 'unchanged'> {
  const next = async (current: CatalogPiece | undefined) => {
    const lines = new Map(current?.nodes.map((line) => [foldNodeId(String(line.id)), line]));
    const named = new Set([...nodeIds.map(foldNodeId), ...(andOthers ? lines.keys() : [])]);
    await inParallel(named.values(), maxFilesAtOnce, async (nodeId) => {
      const line = await withHostNodes(() => readLine(context, nodeId));
      if (line) lines.set(nodeId, line);
      else lines.delete(nodeId);
    });
    return { nodes: [...lines.values()].sort((a, b) => (a.id < b.id ? -1 : 1)) };
  };
  return refreshFile(context, pieceFile(path), next, andOthers);
}

/** A node's line, from the files of the node and of its latest version, which are written before. */
async function readLine(context: Context, nodeId: string): Promise<CatalogEntry | undefined> {
  const node = await readFile(context, nodeFile(nodeId));
  const entry = node && entryOf(node);
  if (!entry) return undefined;
  const file = await readFile(context, hostNodesFile(nodeId, String(entry.latest_version)));
  // Otherwise, each host node written during an extraction would change the line.
  if (!file || file.host_node_extract_status === 'pending') return entry;
  const { host_node_extract_status: status, host_nodes } = file;
  const { name = '', tags = [], translations } = node;
  const texts = [...textsIn(translations).sort(), name, ...tags, ...host_nodes.flatMap(titlesOf)];
  const words = wordsBeside(entry, texts);
  return {
    ...entry,
    ...(status === 'success' && { host_nodes: host_nodes.length }),
    ...(words && { host_node_words: words }),
  };
}

/** Holds every word of nearly all packs. It makes a large catalog two thirds larger (docs/capacity.md). */
const maxLetters = 2000;

/**
 * The words of a node's translations, of what its entry leaves out of its name and tags, and of the names and
 * titles of its host nodes, for searches. Leaves out words that the entry already has or that begin another word:
 * a search finds words by their beginning.
 */
function wordsBeside(entry: CatalogEntry, texts: readonly string[]): string {
  const { id, name = '', description = '', tags = [] } = entry;
  const known = wordsOf([id, name, description, ...tags].join(' '));
  const found = new Set(wordsOf(texts.join(' ')));
  const sorted = [...known, ...found].sort();
  // A word that the entry already has is in the list twice, so its first copy begins the second.
  const isBeginning = new Set(sorted.filter((word, place) => sorted[place + 1]?.startsWith(word)));
  let text = '';
  for (const word of found)
    if (!isBeginning.has(word) && text.length + word.length < maxLetters) text += `${text && ' '}${word}`;
  return text;
}

function titlesOf({ host_node_name = '', display_name = '' }: HostNode): string[] {
  return [host_node_name, display_name];
}

/** Each language of a translation has any value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' ? Object.values(value ?? {}).flatMap(textsIn) : [];
}

/** `VideoUpscaler` is two words, as in the reader's search. */
function wordsOf(text: string): string[] {
  return (text.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu) ?? []).map((word) =>
    word.toLowerCase(),
  );
}
