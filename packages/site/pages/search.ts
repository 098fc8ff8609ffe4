import type { CatalogEntry } from 'registry-rules/schemas/index-files';
import { entryCard } from '../templates/entry.ts';
import { countOf } from '../templates/text.ts';
import { append, at, searchWorker } from './markup-sink.ts';
import type { Question, Reply } from './search-worker.ts';

const step = 20;
const atOnce = 5;
const text = at<HTMLInputElement>('search-text');
const tag = at<HTMLSelectElement>('search-tag');
const order = at<HTMLSelectElement>('search-order');
const status = at('search-status');
const results = at('results');
const more = at<HTMLButtonElement>('more-results');

let top: CatalogEntry[] = [];
let found: CatalogEntry[] = [];
let shown = 0;
/** How many of them are asked for. */
let wanted = step;
let turn = 0;
/** Where the page is to be once all is drawn. */
let place = 0;
let drawing: ReturnType<typeof setTimeout> | undefined;
let worker: Worker | undefined;

/** Addresses were behind the # once. */
function leaveOldAddress(): void {
  if (location.hash.startsWith('#/'))
    location.replace(location.hash.slice(1).replace(/^\/(?=\?|$)/, '/search'));
}

function render(entries: CatalogEntry[]): void {
  found = entries;
  shown = Math.min(wanted, found.length);
  place = Math.max(place, scrollY);
  results.replaceChildren();
  draw();
  offerMore();
}

/** A slow phone draws a few cards at a time, and answers in between. */
function draw(): void {
  clearTimeout(drawing);
  const from = results.children.length;
  append(results, found.slice(from, Math.min(from + atOnce, shown)).map(entryCard));
  if (results.children.length < shown) drawing = setTimeout(draw, 0);
  else if (place > 0) {
    scrollTo(0, place);
    place = 0;
  }
}

function offerMore(): void {
  more.hidden = shown >= found.length;
  more.textContent = `Show more (${(found.length - shown).toLocaleString('en-US')} left)`;
}

more.onclick = () => {
  const first = results.children.length;
  wanted = shown + step;
  shown = Math.min(wanted, found.length);
  draw();
  offerMore();
  // The button may be gone, and a keyboard's user goes on at the first new entry.
  results.children[first]?.querySelector('a')?.focus();
};

const isAll = () => text.value.trim() === '' && tag.value === '' && order.value === '';

/** Every word begins a word of the entry: good enough until the whole index answers. */
function inTop(): CatalogEntry[] {
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  return top.filter((entry) => {
    const searched = [entry.id, entry.name, entry.description, entry.publisher.name, ...(entry.tags ?? [])];
    const said = searched.join(' ').toLowerCase();
    return (
      (tag.value === '' || entry.tags?.includes(tag.value)) && words.every((word) => said.includes(word))
    );
  });
}

function find(count = step): void {
  turn += 1;
  wanted = count;
  document.title = text.value ? `${text.value} · Node registry` : 'Node registry';
  const known = inTop();
  if (known.length > 0 && order.value === '') render(known);
  if (isAll() && top.length > 0) {
    status.textContent = 'The most used nodes. Type to search all of them.';
    return;
  }
  status.textContent = known.length > 0 ? 'Searching all nodes…' : 'Searching…';
  worker ??= startWorker();
  worker.postMessage({ turn, text: text.value, tag: tag.value, order: order.value } satisfies Question);
}

function startWorker(): Worker {
  const started = searchWorker();
  started.onmessage = ({ data }: MessageEvent<Reply>) => {
    if (data.turn !== turn) return;
    if (data.error !== undefined) return fail(data.error);
    for (const [name] of data.tags ?? []) offerTag(name);
    const all = data.found ?? [];
    render(all);
    status.textContent = all.length === 0 ? nothingFound() : countOf(data.count ?? all.length, 'node');
  };
  started.onerror = () => fail('This part of the page did not work. Load the page again.');
  return started;
}

function nothingFound(): string {
  return isAll() ? 'Nothing is published here yet.' : 'No node matches. Try fewer or other words.';
}

function fail(sentence: string): void {
  const again = document.createElement('button');
  again.type = 'button';
  again.textContent = 'Try again';
  again.onclick = () => void start();
  status.replaceChildren(`${sentence} `, again);
}

const maxTagLetters = 40;

function offerTag(value: string): void {
  if ([...tag.options].some((option) => option.value === value)) return;
  const option = new Option(value.slice(0, maxTagLetters), value);
  tag.append(option);
}

/** Each letter would be a step of the history. */
function rememberAndFind(): void {
  const given = Object.entries({ q: text.value, tag: tag.value, order: order.value });
  const parameters = new URLSearchParams(given.filter(([, value]) => value !== ''));
  history.replaceState(null, '', `/search${parameters.size > 0 ? `?${parameters}` : ''}`);
  find();
}

/** The place in a list that somebody comes back to. */
addEventListener('pagehide', () => history.replaceState({ y: scrollY, wanted }, ''));

async function start(): Promise<void> {
  const answer = await fetch('/index/v1/top.json').catch(() => undefined);
  const file: { nodes?: CatalogEntry[] } = answer?.ok ? await answer.json().catch(() => ({})) : {};
  top = Array.isArray(file.nodes) ? file.nodes : [];
  for (const name of new Set(top.flatMap(({ tags = [] }) => tags))) offerTag(name);
  const { y = 0, wanted: before = step }: { y?: number; wanted?: number } = history.state ?? {};
  place = y;
  find(before);
}

leaveOldAddress();
addEventListener('hashchange', leaveOldAddress);
const parameters = new URLSearchParams(location.search);
text.value ||= parameters.get('q') ?? '';
for (const [control, name] of [[tag, 'tag']] as const) {
  const value = parameters.get(name) ?? '';
  if (value) offerTag(value);
  control.value = value;
}
order.value = parameters.get('order') ?? '';
for (const control of [text, tag, order]) control.addEventListener('input', rememberAndFind);
at('search-form').addEventListener('submit', (event) => event.preventDefault());
void start();
