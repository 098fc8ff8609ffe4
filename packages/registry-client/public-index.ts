import { blobOf, download, type Downloadable } from './download.ts';
import type { components } from './openapi.ts';
import { isAbsent, parsed } from './read-answer.ts';
import { RegistryError } from './registry-error.ts';
import type { searchOver } from './search.ts';
import { readOnly, supported } from './request.ts';
import { byUse } from './search-words.ts';
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
  /** The registry's URL for downloads: every `downloadUrl` begins with it. */
  downloadsUrl: string;
}

export interface ReadOptions extends ReaderOptions {
  signal?: AbortSignal | undefined;
}

export type PublicIndex = ReturnType<typeof createPublicIndex>;

/** Reads only the public part of a registry; it needs no API. */
export function createPublicIndex({ downloadsUrl, ...options }: PublicIndexOptions) {
  return readIndex(requireAddress('downloadsUrl', downloadsUrl), readerSettings(options));
}

/** The lifetime that the index files declare: they may be a minute old. */
const freshMs = 60_000;
const maxPieces = 10_000;

/** A URL may serve any file. These check the parts that the client walks through. */
const isObject = (value: unknown) => typeof value === 'object' && value !== null;
const isList = (value: unknown) => Array.isArray(value) && value.every(isObject);
const shapes = {
  config: (file: Partial<Schemas['IndexConfig']>) => isObject(file),
  piece: ({ nodes }: Partial<Schemas['CatalogPiece']>) =>
    isList(nodes) &&
    nodes?.every(({ id, publisher }) => typeof id === 'string' && isObject(publisher)) === true,
  node: ({ versions }: Partial<IndexedNode>) => isList(versions),
  readme: ({ text }: Partial<IndexedReadme>) => typeof text === 'string',
  hostNodes: ({ host_nodes }: Partial<IndexedHostNodes>) => isList(host_nodes),
};
type IsShape<Content> = (file: Partial<Content>) => boolean;

/**
 * Reads static files that need no token and have no rate limit. Keeps each file with its ETag, and downloads
 * it again only if it has changed.
 */
export function readIndex(downloadsUrl: string | undefined, settings: Settings) {
  const kept = new Map<string, Kept>();

  /** Undefined if there is no such file. */
  async function read<Content>(
    path: string,
    isShape: IsShape<Content>,
    options: ReadOptions,
  ): Promise<Content | undefined> {
    const url = `${requireAddress('downloadsUrl', downloadsUrl)}/index/v1/${path}`;
    const own = settingsWith(settings, options);
    const known = kept.get(url);
    const attempt = async (): Promise<Answer<Kept | undefined>> => {
      const headers = known && !hasHttpCache ? { 'if-none-match': known.etag } : {};
      const init = { headers, ...supported({ credentials: 'omit' }), signal: options.signal };
      const { response, text, lost } = await textAt(own, url, init, maxFileBytes);
      if (lost) return { outcome: { error: lost, isFromService: false } };
      const { status, ok } = response;
      const etag = response.headers.get('etag') ?? '';
      if (known && (status === 304 || (ok && etag === known.etag)))
        return { response, outcome: { data: known } };
      if (isAbsent(response, text ?? '')) return { response, outcome: { data: undefined } };
      const content = ok && text !== undefined ? parsed(text) : undefined;
      if (typeof content === 'object' && content !== null)
        return { response, outcome: { data: { etag, content } } };
      const code = status >= 500 || status === 429 ? 'unavailable' : 'invalid_reply';
      const sentence = `${url} was answered ${status} without a file of a registry's index.`;
      const error = new RegistryError(code, sentence, { status });
      return { response, outcome: { error, isFromService: false } };
    };
    const mayRepeat = ({ error: { status = 500 } }) => status >= 500 || status === 429;
    const { data } = await readOnly(untilDone(own, options.signal, { attempt, mayRepeat }));
    if (data && !isShape(data.content))
      throw new RegistryError('invalid_reply', `The file ${url} does not belong to a registry's index.`);
    if (data?.etag) kept.set(url, data);
    return data?.content as Content | undefined;
  }

  let config: { at: number; content: Schemas['IndexConfig'] } | undefined;

  /** Every registry with a publisher has this file, so without it the URL isn't a registry's. */
  async function requireConfig(options: ReadOptions): Promise<Schemas['IndexConfig']> {
    if (config && Date.now() - config.at < freshMs) return config.content;
    const content = await read<Schemas['IndexConfig']>('config.json', shapes.config, options);
    const pieces = content?.catalog_pieces ?? -1;
    if (content?.version !== 1 || !Number.isSafeInteger(pieces) || pieces < 0 || pieces > maxPieces)
      throw new RegistryError(
        'invalid_reply',
        content
          ? `${downloadsUrl} does not serve a registry's files: its index/v1/config.json is something else.`
          : `Nothing is published yet at ${downloadsUrl}, or the address is wrong: index/v1/config.json is missing.`,
      );
    config = { at: Date.now(), content };
    return content;
  }

  interface Catalog {
    /** When it was read: until it may have changed, typing in a search makes no request. */
    at: number;
    pieces: (Schemas['CatalogPiece'] | undefined)[];
    entries: CatalogEntry[];
    search?: ReturnType<typeof searchOver>;
  }
  let last: Catalog | undefined;

  /** Sorted, and later prepared for searches, only if a piece has changed. */
  async function readCatalog(options: ReadOptions): Promise<Catalog> {
    if (last && Date.now() - last.at < freshMs) return last;
    const { catalog_pieces: count } = await requireConfig(options);
    const pieces = await Promise.all(
      Array.from({ length: count }, (_, piece) =>
        read<Schemas['CatalogPiece']>(`catalog/${count}/${piece}.json`, shapes.piece, options),
      ),
    );
    const at = Date.now();
    const isSame =
      last?.pieces.length === pieces.length && last.pieces.every((piece, place) => piece === pieces[place]);
    last =
      last && isSame
        ? Object.assign(last, { at })
        : { at, pieces, entries: pieces.flatMap((piece) => piece?.nodes ?? []).sort(byUse) };
    return last;
  }

  /** A missing file means something only if the others exist. */
  async function readOf<Content>(
    nodeId: string,
    rest: string,
    isShape: IsShape<Content>,
    options: ReadOptions = {},
  ) {
    const content = await read<Content>(`nodes/${folded(nodeId)}${rest}`, isShape, options);
    if (content === undefined) await requireConfig(options);
    return content;
  }

  const node = (nodeId: string, options?: ReadOptions) =>
    readOf<IndexedNode>(nodeId, '.json', shapes.node, options);

  const streamOf = (version: Downloadable, options: ReadOptions = {}) =>
    download(settingsWith(settings, options), version, options.signal);

  return {
    /** A node with its publisher and all published versions, withdrawn ones as well; undefined if there is none. */
    node,

    /** The versions of a node, highest first, without withdrawn ones; empty if the node is missing or banned. */
    versions: async (nodeId: string, options: ReadOptions = {}): Promise<PublicVersion[]> =>
      ((await node(nodeId, options))?.versions ?? []).filter(
        ({ status }) => status !== 'NodeVersionStatusDeleted',
      ),

    /** The README of a node's latest version, as its publisher wrote it; undefined without such a node. */
    readme: (nodeId: string, options?: ReadOptions) =>
      readOf<IndexedReadme>(nodeId, '/readme.json', shapes.readme, options),

    /** The host nodes of a version; undefined if they have not been read yet, or there is no such version. */
    hostNodes: (nodeId: string, version: string, options?: ReadOptions) =>
      readOf<IndexedHostNodes>(
        nodeId,
        `/${encodeURIComponent(version)}/host-nodes.json`,
        shapes.hostNodes,
        options,
      ),

    /** Every active node, by `search_ranking`, downloads and name. */
    catalog: async (options: ReadOptions = {}): Promise<CatalogEntry[]> => [
      ...(await readCatalog(options)).entries,
    ],

    /**
     * The nodes whose ID, name, description, tags, publisher or host nodes have every word, best matches first. Without
     * a word all of them, as in `catalog`.
     */
    search: async (text: string, options: ReadOptions = {}): Promise<CatalogEntry[]> => {
      const catalog = await readCatalog(options);
      if (!text.trim()) return [...catalog.entries];
      if (!catalog.search) {
        // A program that never searches doesn't load it.
        const { searchOver } = await import('./search.ts');
        catalog.search = searchOver(catalog.entries);
      }
      return catalog.search(text);
    },

    /** The archive of a version as a stream, which fails unless the bytes match the published ones. */
    download: streamOf,

    /** The archive of a version as a whole, if its bytes match the published ones. */
    downloadBlob: async (version: Downloadable, options?: ReadOptions): Promise<Blob> =>
      blobOf(await streamOf(version, options)),
  };
}

/** Spellings that differ in case or punctuation name the same node. */
function folded(nodeId: string): string {
  return encodeURIComponent(nodeId.toLowerCase().replace(/[-_.]+/g, '-'));
}

const maxFileBytes = 50_000_000;

interface Kept {
  etag: string;
  content: object;
}

/**
 * Browsers cache files and their ETags themselves, and would need the server's permission to send this header
 * from another origin.
 */
const hasHttpCache = 'document' in globalThis || 'WorkerGlobalScope' in globalThis;
