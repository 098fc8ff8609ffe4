import type { CatalogEntry } from '@node-registry/registry-rules/schemas/index-files';
import { entryCard } from '../templates/entry.ts';
import { countOf, numberOf } from '../templates/text.ts';
import { improve, parsed } from './improve.ts';
import type { Question, Reply } from './search-worker.ts';

interface Policy {
  createHTML: (text: string) => string;
  createScriptURL: (text: string) => string;
}

/** The page's policy names this one: markup comes only from templates, and the only worker is the site's. */
const rules: Policy = { createHTML: (text) => text, createScriptURL: () => '/site/search-worker.js' };
const { trustedTypes } = globalThis as {
  trustedTypes?: { createPolicy: (name: string, rules: Policy) => Policy };
};
const policy = trustedTypes?.createPolicy('registry', rules) ?? rules;

/** An element of the page's own HTML. */
function at<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element ${id}.`);
  return found as Kind;
}

await parsed();
const step = 20;
const atOnce = 3;
const maxFound = 200;
const text = at<HTMLInputElement>('search-text');
const tag = at<HTMLSelectElement>('search-tag');
const system = at<HTMLSelectElement>('search-system');
const accelerator = at<HTMLSelectElement>('search-accelerator');
const order = at<HTMLSelectElement>('search-order');
const status = at('search-status');
const results = at('results');
const more = at<HTMLButtonElement>('more-results');
/** The lists of the start page, which a search replaces. */
const lists = document.querySelectorAll<HTMLElement>('.home');
const siteName = document.querySelector<HTMLMetaElement>('meta[property="og:site_name"]')?.content ?? '';

let found: CatalogEntry[] = [];
/** The number of requested results. */
let wanted = step;
let turn = 0;
/** The turn whose results are drawn. */
let drawn = 0;
/** The scroll position to restore once everything is drawn. */
let place = 0;
/** A keyboard user continues at the first new entry. */
let focused: number | undefined;
let drawing: ReturnType<typeof setTimeout> | undefined;
let worker: Worker | undefined;

/** A slow phone draws a few cards at a time, and stays responsive in between. */
function draw(): void {
  clearTimeout(drawing);
  const from = results.children.length;
  const cards = found.slice(from, from + atOnce).map((entry) => entryCard(entry).text);
  results.insertAdjacentHTML('beforeend', policy.createHTML(cards.join('')));
  for (const card of [...results.children].slice(from)) improve(card);
  if (focused !== undefined && results.children[focused]) {
    results.children[focused]?.querySelector('a')?.focus();
    focused = undefined;
  }
  if (results.children.length < found.length) drawing = setTimeout(draw, 0);
  else if (place > 0) scrollTo({ top: place, behavior: 'instant' });
}

function take({ data }: MessageEvent<Reply>): void {
  if (data.turn !== turn) return;
  const { error, isSlow, count, tags = [], isTop = false, isCut = false } = data;
  if (error !== undefined) {
    fail(error);
    return;
  }
  offerTags(tags);
  if (isSlow) {
    status.textContent = 'Searching all nodes…';
    return;
  }
  if (!data.found) return;
  found = data.found;
  if (drawn !== turn) results.replaceChildren();
  drawn = turn;
  draw();
  if (count === undefined) return;
  more.hidden = found.length < wanted || wanted >= Math.min(count, maxFound);
  more.textContent = `Show more (${numberOf(Math.max(count - wanted, 0))} left)`;
  status.textContent = sentenceOf(count, isTop, isCut);
  status.className = count === 0 ? 'empty' : '';
}

const isAll = () => text.value.trim() === '' && !tag.value && !system.value && !accelerator.value;

function sentenceOf(count: number, isTop: boolean, isCut: boolean): string {
  if (isTop && isAll()) return 'The most used nodes. Type to search all of them.';
  if (isTop) return `${countOf(count, 'node')} of the most used. Type three letters to search all of them.`;
  if (count === 0)
    return isAll() ? 'Nothing is published here yet.' : 'No node matches. Try fewer or other words.';
  return isCut ? `More than ${countOf(count, 'node')}` : countOf(count, 'node');
}

more.onclick = () => {
  focused = results.children.length;
  ask(wanted + step);
};

/** Each turn draws everything again, unless it only requests more. */
function ask(count: number): void {
  wanted = count;
  if (!worker) {
    worker = new Worker(policy.createScriptURL(''), { type: 'module' });
    worker.onmessage = take;
    worker.onerror = () => fail('The search could not start. Load the page again.');
  }
  const filters = { tag: tag.value, system: system.value, accelerator: accelerator.value };
  worker.postMessage({ turn, text: text.value, ...filters, order: order.value, wanted } satisfies Question);
}

function find(count = step): void {
  turn += 1;
  const isHome = lists.length > 0 && isAll() && order.value === '';
  for (const list of lists) list.hidden = !isHome;
  at('found').hidden = isHome;
  at('search-filters').hidden = isHome;
  const title = text.value || (isHome ? '' : 'Search');
  document.title = title ? `${title} · ${siteName}` : siteName;
  if (isHome) return;
  status.textContent = 'Searching…';
  status.className = '';
  ask(count);
}

function fail(sentence: string): void {
  const again = document.createElement('button');
  again.type = 'button';
  again.textContent = 'Try again';
  again.onclick = () => find();
  status.replaceChildren(`${sentence} `, again);
}

const maxTagLetters = 40;
const offered = new Set<string>();

function offerTags(names: readonly string[]): void {
  const added = names.filter((name) => !offered.has(name));
  for (const name of added) offered.add(name);
  tag.append(...added.map((name) => new Option(name.slice(0, maxTagLetters), name)));
}

const controls = { q: text, tag, system, accelerator, order };

/** Otherwise, each letter would be a step of the history. */
function rememberAndFind(): void {
  const given = Object.entries(controls).map(([name, { value }]) => [name, value] as [string, string]);
  const parameters = new URLSearchParams(given.filter(([, value]) => value !== ''));
  const path = lists.length > 0 && parameters.size === 0 ? '/' : '/search';
  history.replaceState(null, '', `${path}${parameters.size > 0 ? `?${parameters}` : ''}`);
  place = 0;
  find();
}

/** Saves the place in the list for a reader who comes back. */
addEventListener('pagehide', () => history.replaceState({ y: scrollY, wanted }, ''));
for (const event of ['wheel', 'touchstart', 'keydown'])
  addEventListener(event, () => (place = 0), { passive: true });

improve(document);
const parameters = new URLSearchParams(location.search);
const given = parameters.get('tag') ?? '';
if (given) offerTags([given]);
for (const [name, control] of Object.entries(controls)) {
  control.value ||= parameters.get(name) ?? '';
  control.addEventListener('input', rememberAndFind);
}
at('search-form').addEventListener('submit', (event) => event.preventDefault());
const { y = 0, wanted: before = step }: { y?: number; wanted?: number } = history.state ?? {};
place = y;
find(before);
