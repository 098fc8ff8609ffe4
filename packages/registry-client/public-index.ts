import { type Downloadable, download } from './download.ts';
import type { components } from './openapi.ts';
import { RegistryError } from './registry-error.ts';
import { searchOver } from './search.ts';
import { type Answer, textAt, untilDone } from './send.ts';
import { readerSettings, requireAddress, type SendOptions, type Settings, settingsWith } from './settings.ts';

type Schemas = components['schemas'];
export type CatalogEntry = Schemas['CatalogEntry'];
export type IndexedNode = Schemas['IndexedNode'];
export type IndexedHostNodes = Schemas['IndexedHostNodes'];
export type IndexedReadme = Schemas['IndexedReadme'];
export type PublicVersion = Schemas['PublicVersion'];

type ReaderOptions = Omit<SendOptions, 'headers'>;

export interface PublicIndexOptions extends ReaderOptions {
  /** Where the registry serves its downloads: every `downloadUrl` begins with it. */
  downloadsUrl: string;
}

export interface ReadOptions extends ReaderOptions {
  signal?: AbortSignal | undefined;
}

export type PublicIndex = ReturnType<typeof createPublicIndex>;

/** Reads the public part of a registry, and nothing else; it needs no API. */
export function createPublicIndex({ downloadsUrl, ...options }: PublicIndexOptions) {
  return readIndex(requireAddress('downloadsUrl', downloadsUrl), readerSettings(options));
}

const maxFileBytes = 50_000_000;

interface Kept {
  etag: string;
  content: unknown;
}

/**
 * Reads static files that need no token and have no rate limit. A file that was read is kept with its ETag, and downloaded
 * again only if it has changed.
 */
export function readIndex(downloadsUrl: string | undefined, settings: Settings) {
  const kept = new Map<string, Kept>();

  /** Undefined if there is no such file. */
  async function read<Content>(path: string, options: ReadOptions): Promise<Content | undefined> {
    const url = `${requireAddress('downloadsUrl', downloadsUrl)}/index/v1/${path}`;
    const own = settingsWith(settings, options);
    const { data } = await untilDone(own, options.signal, {
      attempt: () => readFile(own, { url, known: kept.get(url), signal: options.signal }),
      mayRepeat: ({ error: { code, status = 500 } }) =>
        code !== 'invalid_reply' && (status >= 500 || status === 429),
    });
    if (data?.etag) kept.set(url, data);
    return data?.content as Content | undefined;
  }

  async function readPieces(options: ReadOptions): Promise<(Schemas['CatalogPiece'] | undefined)[]> {
    const config = await read<Schemas['IndexConfig']>('config.json', options);
    const pieces = config?.catalog_pieces ?? 0;
    return Promise.all(
      Array.from({ length: pieces }, (_, piece) =>
        read<Schemas['CatalogPiece']>(`catalog/${pieces}/${piece}.json`, options),
      ),
    );
  }

  interface Catalog {
    pieces: (Schemas['CatalogPiece'] | undefined)[];
    entries: CatalogEntry[];
    search?: ReturnType<typeof searchOver>;
  }
  let last: Catalog | undefined;

  /** Sorted, and later prepared for searches, only if a piece has changed. */
  async function readCatalog(options: ReadOptions): Promise<Catalog> {
    const pieces = await readPieces(options);
    const isSame =
      last?.pieces.length === pieces.length && last.pieces.every((piece, at) => piece === pieces[at]);
    if (!last || !isSame)
      last = { pieces, entries: pieces.flatMap((piece) => piece?.nodes ?? []).sort(byRank) };
    return last;
  }

  const node = (nodeId: string, options: ReadOptions = {}) =>
    read<IndexedNode>(`nodes/${folded(nodeId)}.json`, options);

  return {
    /** A node with its publisher and all published versions; undefined if there is none. */
    node,

    /** All published versions of a node, highest first; none of a node that is not there or banned. */
    versions: async (nodeId: string, options: ReadOptions = {}): Promise<PublicVersion[]> =>
      (await node(nodeId, options))?.versions ?? [],

    /** The README of a node's latest version, as its publisher wrote it; undefined if there is no such node. */
    readme: (nodeId: string, options: ReadOptions = {}) =>
      read<IndexedReadme>(`nodes/${folded(nodeId)}/readme.json`, options),

    /** The host nodes of a version; undefined if they have not been read yet, or there is no such version. */
    hostNodes: (nodeId: string, version: string, options: ReadOptions = {}) =>
      read<IndexedHostNodes>(
        `nodes/${folded(nodeId)}/${encodeURIComponent(version)}/host-nodes.json`,
        options,
      ),

    /** Every active node, by `search_ranking` and then by ID. */
    catalog: async (options: ReadOptions = {}): Promise<CatalogEntry[]> => [
      ...(await readCatalog(options)).entries,
    ],

    /** The nodes whose ID, name, description, tags or publisher have every word, best matches first. */
    search: async (text: string, options: ReadOptions = {}): Promise<CatalogEntry[]> => {
      const catalog = await readCatalog(options);
      catalog.search ??= searchOver(catalog.entries);
      return catalog.search(text);
    },

    /** The archive of a version as a stream, which fails unless the bytes are those that were published. */
    download: (version: Downloadable, options: ReadOptions = {}) =>
      download(settingsWith(settings, options), version, options.signal),
  };
}

/**
 * Browsers keep files and their ETags themselves, and would ask the server for permission to send this header from another
 * origin.
 */
const hasHttpCache = 'document' in globalThis || 'WorkerGlobalScope' in globalThis;

interface FileRequest {
  url: string;
  known: Kept | undefined;
  signal: AbortSignal | undefined;
}

async function readFile(
  settings: Settings,
  { url, known, signal }: FileRequest,
): Promise<Answer<Kept | undefined>> {
  const headers = known && !hasHttpCache ? { 'if-none-match': known.etag } : {};
  const init = { headers, credentials: 'omit' } as const;
  const { response, text, lost } = await textAt(settings, url, { init, signal, maxBytes: maxFileBytes });
  if (lost) return { outcome: { error: lost, isFromService: false } };
  const { status, ok } = response;
  const etag = response.headers.get('etag') ?? '';
  if (known && (status === 304 || (ok && etag === known.etag))) return { response, outcome: { data: known } };
  // S3 answers 403 for what is not there, unless its reader may list.
  if (status === 404 || status === 403) return { response, outcome: { data: undefined } };
  const content = ok && text !== undefined ? parsed(text) : undefined;
  if (content !== undefined) return { response, outcome: { data: { etag, content } } };
  const code = ok || status < 500 ? 'invalid_reply' : 'unavailable';
  const error = new RegistryError(
    code,
    `${url} was answered ${status} without a file of a registry's index.`,
    {
      status,
    },
  );
  return { response, outcome: { error, isFromService: false } };
}

/** Spellings that differ in case or punctuation name one node. */
function folded(nodeId: string): string {
  return encodeURIComponent(nodeId.toLowerCase().replace(/[-_.]+/g, '-'));
}

function parsed(text: string): object | undefined {
  try {
    const content: unknown = JSON.parse(text);
    return typeof content === 'object' && content !== null ? content : undefined;
  } catch {
    return undefined;
  }
}

function byRank(a: CatalogEntry, b: CatalogEntry): number {
  return (b.search_ranking ?? 0) - (a.search_ranking ?? 0) || (a.id < b.id ? -1 : 1);
}
