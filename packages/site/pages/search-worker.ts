import { type CatalogEntry, createPublicIndex } from 'registry-client';
import { byUse } from '../templates/lists.ts';

/** What the page asks for. */
export interface Question {
  turn: number;
  text: string;
  tag: string;
  order: string;
}

/** What it gets. */
export interface Reply {
  turn: number;
  found?: CatalogEntry[];
  /** How many match; `found` has the first of them. */
  count?: number;
  tags?: [tag: string, nodes: number][];
  error?: string;
}

const maxFound = 200;
const maxTags = 100;
const index = createPublicIndex({ downloadsUrl: location.origin, attempts: 2 });
let latest = 0;
let loading: Promise<unknown> | undefined;

function answer(question: Question, found: readonly CatalogEntry[], all: readonly CatalogEntry[]): Reply {
  const { turn, text, tag, order } = question;
  const matching = found.filter(({ tags = [] }) => tag === '' || tags.includes(tag));
  const sorted = text === '' && order === '' ? matching.sort(byUse) : matching.sort(by(order));
  const counts = new Map<string, number>();
  for (const { tags = [] } of all) for (const each of tags) counts.set(each, (counts.get(each) ?? 0) + 1);
  const tags = [...counts].sort(([, a], [, b]) => b - a).slice(0, maxTags);
  const shown = sorted.slice(0, maxFound).map(({ host_node_words, ...entry }) => entry);
  return { turn, found: shown, count: sorted.length, tags };
}

function by(order: string): (a: CatalogEntry, b: CatalogEntry) => number {
  if (order === 'newest') return (a, b) => b.updated_at.localeCompare(a.updated_at);
  if (order === 'name') return (a, b) => (a.name || a.id).localeCompare(b.name || b.id);
  return () => 0;
}

addEventListener('message', async ({ data }: MessageEvent<Question>) => {
  latest = data.turn;
  try {
    // Letters that are typed meanwhile wait for the same files.
    loading ??= index.catalog();
    await loading;
    if (latest !== data.turn) return;
    const all = await index.catalog();
    const found = await index.search(data.text);
    // A slower answer to an earlier text comes too late.
    if (latest === data.turn) postMessage(answer(data, found, all));
  } catch (error) {
    loading = undefined;
    const message = error instanceof Error ? error.message : 'This part of the page did not work.';
    if (latest === data.turn) postMessage({ turn: data.turn, error: message } satisfies Reply);
  }
});
