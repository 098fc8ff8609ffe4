import { plain, words } from '@node-registry/registry-client/search-words';
import { foldNodeId } from '@node-registry/registry-rules/fold-node-id';
import type { CatalogEntry, IndexedNode } from '@node-registry/registry-rules/schemas/index-files';
import type { SearchPiece } from '../search-pieces.ts';
import { entryOf, frequentTags } from '../templates/entry.ts';
import { runsOn } from '../templates/runs-on.ts';
import { type Filters, findInPieces, isShort } from './find-in-pieces.ts';

export interface Question extends Filters {
  turn: number;
  text: string;
  order: string;
  /** The number of results that the page shows. */
  wanted: number;
}

/** The worker's replies: the first results soon, then all wanted ones. */
export interface Reply {
  turn: number;
  found?: CatalogEntry[];
  /** The number of matches; undefined until all wanted results are there. */
  count?: number;
  /** Whether there are more matches than counted. */
  isCut?: boolean;
  /** Whether these are only the most used nodes. */
  isTop?: boolean;
  /** Whether only the whole catalog has the answer. */
  isSlow?: boolean;
  tags?: string[];
  error?: string;
}

const step = 5;
/** Results that a filter excludes are read as well. */
const maxRead = 400;
const maxTags = 100;
const typingMs = 700;
let latest = 0;

async function read<Content>(path: string): Promise<Content | undefined> {
  const answer = await fetch(path).catch(() => {
    throw new Error('The registry can’t be reached. Check your connection.');
  });
  if (answer.status === 404) return undefined;
  if (!answer.ok) throw new Error(`The registry can’t be read now (${answer.status}).`);
  return answer.json();
}

/** Loads each key once, unless that failed. */
function once<Key, Content>(load: (key: Key) => Promise<Content>): (key: Key) => Promise<Content> {
  const known = new Map<Key, Promise<Content>>();
  return (key) => {
    const loading = known.get(key) ?? load(key);
    known.set(key, loading);
    loading.catch(() => known.delete(key));
    return loading;
  };
}

const piece = once(
  async (number: number) =>
    (await read<SearchPiece>(`/pages/search/${number}.json`)) ?? { nodes: [], words: {} },
);
let top: CatalogEntry[] | undefined;
async function topNodes(): Promise<CatalogEntry[]> {
  top ??= (await read<{ nodes: CatalogEntry[] }>('/index/v1/top.json'))?.nodes ?? [];
  return top;
}

/** A result from its node's own file: undefined if the node was banned or withdrawn since. */
const readEntry = once(async (id: string): Promise<CatalogEntry | undefined> => {
  const known = top?.find((entry) => entry.id === id);
  if (known) return known;
  const node = await read<IndexedNode>(`/index/v1/nodes/${foldNodeId(id)}.json`);
  return node && entryOf(node);
});

/** Every word begins a word of the entry, or is inside one. */
function isIn({ id, name, description, publisher, tags = [] }: CatalogEntry, typed: string[]): boolean {
  const said = plain([id, name, description, publisher.name, ...tags].join(' '));
  return typed.every((word) => said.includes(plain(word)));
}

const isFiltered = ({ tag, system, accelerator }: Filters) => tag + system + accelerator !== '';

function fits(entry: CatalogEntry, { tag, system, accelerator }: Filters): boolean {
  const kinds = runsOn(entry);
  const isOn = (kind: string) => kind === '' || kinds.includes(kind);
  return (tag === '' || entry.tags?.includes(tag) === true) && isOn(system) && isOn(accelerator);
}

type Tell = (given: Omit<Reply, 'turn'>) => void;

async function answer(question: Question, tell: Tell): Promise<void> {
  const { text, order, wanted } = question;
  const isAll = text.trim() === '' && !isFiltered(question);
  if (!isAll && order === '' && (await tellFromPieces(question, tell))) return;
  const typed = words(text);
  if (text.trim() !== '' && typed.length === 0) return tell({ found: [], count: 0 });
  if (order === '' && (isAll || (typed.length > 0 && typed.every(isShort)))) {
    const all = await topNodes();
    const found = all.filter((entry) => isIn(entry, typed) && fits(entry, question));
    if (all.length > 0)
      return tell({
        found: found.slice(0, wanted),
        count: found.length,
        isTop: true,
        tags: frequentTags(all, maxTags),
      });
  }
  tell({ isSlow: true });
  // The next letter may give results for the text being typed.
  await new Promise((resolve) => setTimeout(resolve, typingMs));
  if (question.turn !== latest) return;
  const { findInCatalog } = await import('./search-catalog.js');
  const found = await findInCatalog(text, (entry) => fits(entry, question), order);
  const entries = found.slice(0, wanted).map(({ host_node_words, ...entry }) => entry);
  tell({ found: entries, count: found.length, tags: frequentTags(found, maxTags) });
}

/** False if they contain nothing. */
async function tellFromPieces(question: Question, tell: Tell): Promise<boolean> {
  const { turn, text, wanted } = question;
  const { ids, isCut } = await findInPieces(piece, text, question);
  const found: CatalogEntry[] = [];
  let read = 0;
  while (read < ids.length && found.length < wanted && read < maxRead && turn === latest) {
    const next = ids.slice(read, read + step);
    const entries = (await Promise.all(next.map(readEntry))).flatMap((entry) => entry ?? []);
    found.push(...entries.filter((entry) => fits(entry, question)));
    read += next.length;
    if (found.length > 0) tell({ found: [...found] });
  }
  if (found.length === 0) return false;
  tell({ found, count: ids.length - read + found.length, isCut });
  tell({ tags: frequentTags(await topNodes(), maxTags) });
  return true;
}

addEventListener('message', async ({ data }: MessageEvent<Question>) => {
  const { turn } = data;
  latest = turn;
  // A slower reply to an earlier text comes too late.
  const tell: Tell = (given) => {
    if (latest === turn) postMessage({ turn, ...given } satisfies Reply);
  };
  await answer(data, tell).catch((error: unknown) =>
    tell({ error: error instanceof Error ? error.message : 'This part of the page didn’t work.' }),
  );
});
