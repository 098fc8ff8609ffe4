import { RegistryError } from './registry-error.ts';
import type { components } from './openapi.ts';
import { readText } from './read-text.ts';

type Schemas = components['schemas'];
export type CatalogEntry = Schemas['CatalogEntry'];
export type IndexedNode = Schemas['IndexedNode'];
export type IndexedHostNodes = Schemas['IndexedHostNodes'];
export type PublicVersion = Schemas['PublicVersion'];

export interface PublicIndexOptions {
  /** Where the registry serves its downloads: every `downloadUrl` begins with it. */
  downloadsUrl: string;
  /** How long one file may take. */
  timeoutMs?: number | undefined;
  /** Another `fetch`, such as one with a cache. */
  fetch?: typeof fetch | undefined;
}

export interface ReadOptions {
  signal?: AbortSignal;
}

const maxFileBytes = 50_000_000;

/**
 * Reads the public part of a registry: static files that need no token and have no rate limit. A file that was read is kept
 * with its ETag, and read again only if it has changed.
 */
export function createPublicIndex(options: PublicIndexOptions) {
  const { downloadsUrl, timeoutMs = 35_000, fetch: send = fetch } = options;
  if (!downloadsUrl) throw new RegistryError('invalid_request', 'The option downloadsUrl is missing.');
  const base = `${downloadsUrl.replace(/\/+$/, '')}/index/v1/`;
  const kept = new Map<string, { etag: string; content: unknown }>();

  async function get(
    url: string,
    headers: Record<string, string>,
    { signal }: ReadOptions,
  ): Promise<Response> {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      return await send(url, { headers, signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
    } catch (cause) {
      signal?.throwIfAborted();
      const code = timeout.aborted ? 'timed_out' : 'unreachable';
      throw new RegistryError(code, `The file ${url} could not be read.`, { cause });
    }
  }

  /** Undefined if there is no such file. */
  async function read<Content>(path: string, given: ReadOptions): Promise<Content | undefined> {
    const url = base + path;
    const known = kept.get(url);
    const response = await get(url, known ? { 'if-none-match': known.etag } : {}, given);
    if (response.status === 304 && known) return known.content as Content;
    // S3 answers 403 for what is not there, unless its reader may list.
    if (response.status === 404 || response.status === 403) return undefined;
    const text = response.ok ? await readText(response, maxFileBytes) : undefined;
    const content = text === undefined ? undefined : parsed(text);
    if (content === undefined)
      throw new RegistryError('invalid_reply', `The file ${url} is not part of a registry's index.`, {
        status: response.status,
      });
    const etag = response.headers.get('etag');
    if (etag) kept.set(url, { etag, content });
    return content as Content;
  }

  async function catalog(given: ReadOptions = {}): Promise<CatalogEntry[]> {
    const config = await read<Schemas['IndexConfig']>('config.json', given);
    if (!config) return [];
    const pieces = Array.from({ length: config.catalog_pieces }, (_, piece) =>
      read<Schemas['CatalogPiece']>(`catalog/${config.catalog_pieces}/${piece}.json`, given),
    );
    const nodes = (await Promise.all(pieces)).flatMap((piece) => piece?.nodes ?? []);
    return nodes.sort((a, b) => (b.search_ranking ?? 0) - (a.search_ranking ?? 0) || (a.id < b.id ? -1 : 1));
  }

  return {
    /** A node with its publisher and all published versions; undefined if there is none. */
    node: (nodeId: string, given: ReadOptions = {}) =>
      read<IndexedNode>(`nodes/${encodeURIComponent(folded(nodeId))}.json`, given),

    /** The host nodes of a version; undefined if they have not been read yet, or there is no such version. */
    hostNodes: (nodeId: string, version: string, given: ReadOptions = {}) =>
      read<IndexedHostNodes>(
        `nodes/${encodeURIComponent(folded(nodeId))}/${encodeURIComponent(version)}/host-nodes.json`,
        given,
      ),

    /** Every active node, by `search_ranking` and then by ID. */
    catalog,

    /** The nodes whose ID, name, description, tags or publisher contain every word, best matches first. */
    async search(text: string, given: ReadOptions = {}): Promise<CatalogEntry[]> {
      const words = text.toLowerCase().split(/\s+/).filter(Boolean);
      const scored = (await catalog(given)).map((entry) => ({ entry, score: scoreOf(entry, words) }));
      const found = scored.filter(({ score }) => score > 0);
      return found.sort((a, b) => b.score - a.score).map(({ entry }) => entry);
    },

    /** The archive of a version, if its bytes are those that were published. */
    async download(version: PublicVersion, given: ReadOptions = {}): Promise<Uint8Array> {
      const { downloadUrl, sha256 } = version;
      if (!downloadUrl || !sha256)
        throw new RegistryError('invalid_request', 'This version has no archive to download.');
      const response = await get(downloadUrl, {}, given);
      if (!response.ok)
        throw new RegistryError('unreachable', `The archive could not be downloaded: ${response.status}.`, {
          status: response.status,
        });
      const bytes = new Uint8Array(await response.arrayBuffer());
      const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
      const found = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
      if (found !== sha256)
        throw new RegistryError(
          'wrong_digest',
          `The archive at ${downloadUrl} has other bytes than were published.`,
        );
      return bytes;
    },
  };
}

/** Spellings that differ in case or punctuation name one node. */
function folded(nodeId: string): string {
  return nodeId.toLowerCase().replace(/[-_.]+/g, '-');
}

function parsed(text: string): object | undefined {
  try {
    return Object(JSON.parse(text)) as object;
  } catch {
    return undefined;
  }
}

/** 0 unless every word is found; a word counts most in the ID or name. */
function scoreOf(entry: CatalogEntry, words: readonly string[]): number {
  const names = `${entry.id} ${entry.name ?? ''}`.toLowerCase();
  const rest = [entry.description, entry.publisher.id, entry.publisher.name, ...(entry.tags ?? [])]
    .join(' ')
    .toLowerCase();
  const scores = words.map((word): number => (names.includes(word) ? 3 : rest.includes(word) ? 1 : 0));
  return scores.includes(0) || scores.length === 0 ? 0 : scores.reduce((sum, score) => sum + score, 0);
}
