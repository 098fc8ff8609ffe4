import type { CatalogEntry, PublicIndex } from 'registry-client';
import { at, dateOf, element, foreign, growingList } from './elements.ts';
import { icon } from './icon.ts';
import { failure } from './failure.ts';

const step = 30;
const maxTags = 100;
const prepareMs = 100;
const maxTagLetters = 40;

interface SearchPage {
  show: (parameters: URLSearchParams) => Promise<void>;
}

export function createSearchPage(index: PublicIndex): SearchPage {
  const text = at<HTMLInputElement>('search-text');
  const tag = at<HTMLSelectElement>('search-tag');
  const order = at<HTMLSelectElement>('search-order');
  const status = at('search-status');
  let latest = 0;

  async function find(): Promise<void> {
    latest += 1;
    const turn = latest;
    document.title = text.value ? `${text.value} · Node registry` : 'Node registry';
    try {
      const found = await index.search(text.value);
      if (tag.length === 1) offerTags(tag, await index.catalog());
      // A slower answer to an earlier text comes too late.
      if (turn === latest) showResults(found.filter(hasTag(tag.value)).sort(by(order.value)));
      // The first search prepares the catalog for all later ones: better before the first letter than after it.
      if (turn === 1 && !text.value) setTimeout(() => index.search('a').catch(() => undefined), prepareMs);
    } catch (error) {
      if (turn !== latest) return;
      at('results').replaceChildren();
      at('more-results').hidden = true;
      status.replaceChildren(failure(error, find));
    }
  }

  function showResults(found: CatalogEntry[]): void {
    const isAll = !text.value.trim() && !tag.value;
    status.textContent =
      found.length === 0 && isAll ? 'Nothing is published here yet.' : countOf(found.length);
    const more = at<HTMLButtonElement>('more-results');
    growingList(at('results'), more, { items: found, step, render: renderEntry });
  }

  function rememberAndFind(): void {
    const given = Object.entries({ q: text.value, tag: tag.value, order: order.value });
    const parameters = new URLSearchParams(given.filter(([, value]) => value !== ''));
    // Each letter would be a step of the history.
    history.replaceState(null, '', `#/${parameters.size > 0 ? `?${parameters}` : ''}`);
    void find();
  }

  for (const control of [text, tag, order]) control.addEventListener('input', rememberAndFind);
  at('search-form').addEventListener('submit', (event) => event.preventDefault());
  return {
    async show(parameters) {
      const [q, givenTag] = [parameters.get('q') ?? '', parameters.get('tag') ?? ''];
      // The page may have been typed into before this script was here.
      if (q || latest > 0) text.value = q;
      offer(tag, givenTag);
      tag.value = givenTag;
      order.value = parameters.get('order') ?? '';
      await find();
    },
  };
}

function countOf(count: number): string {
  if (count === 0) return 'No node matches. Try fewer or other words.';
  return count === 1 ? '1 node' : `${count.toLocaleString('en-US')} nodes`;
}

function hasTag(tag: string): (entry: CatalogEntry) => boolean {
  return ({ tags = [] }) => tag === '' || tags.includes(tag);
}

function by(order: string): (a: CatalogEntry, b: CatalogEntry) => number {
  if (order === 'newest') return (a, b) => b.updated_at.localeCompare(a.updated_at);
  if (order === 'name') return (a, b) => nameOf(a).localeCompare(nameOf(b));
  return () => 0;
}

function nameOf({ name, id }: CatalogEntry): string {
  return name || id;
}

function offer(select: HTMLSelectElement, value: string): void {
  if (value && ![...select.options].some((option) => option.value === value))
    select.append(element('option', { value }, value.slice(0, maxTagLetters)));
}

/** The most frequent tags, by name. */
function offerTags(select: HTMLSelectElement, entries: readonly CatalogEntry[]): void {
  const counts = new Map<string, number>();
  for (const { tags = [] } of entries) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const frequent = [...counts].sort(([, a], [, b]) => b - a).slice(0, maxTags);
  for (const [tag] of frequent.sort(([a], [b]) => a.localeCompare(b))) offer(select, tag);
}

function renderEntry(entry: CatalogEntry): HTMLElement {
  const { id, description, publisher, latest_version, updated_at, tags = [], host_nodes } = entry;
  const name = nameOf(entry);
  return element(
    'li',
    { className: 'entry' },
    icon(entry.icon, name),
    element(
      'div',
      {},
      element(
        'h2',
        {},
        element('a', { href: `#/nodes/${encodeURIComponent(id)}` }, foreign(name)),
        ' ',
        latest_version !== undefined && element('small', {}, foreign(latest_version)),
      ),
      description !== undefined && element('p', { className: 'description' }, foreign(description)),
      element(
        'p',
        { className: 'quiet' },
        'by ',
        element(
          'a',
          { href: `#/?${new URLSearchParams({ q: publisher.id })}` },
          foreign(publisher.name || publisher.id),
        ),
        ', ',
        dateOf(updated_at),
        host_nodes !== undefined && `, ${host_nodes} host ${host_nodes === 1 ? 'node' : 'nodes'}`,
      ),
      tags.length > 0 && tagList(tags),
    ),
  );
}

const shownTags = 8;

export function tagList(tags: readonly string[]): HTMLElement {
  const items = tags
    .slice(0, shownTags)
    .map((tag) =>
      element('li', {}, element('a', { href: `#/?${new URLSearchParams({ tag })}` }, foreign(tag))),
    );
  return element('ul', { className: 'tags', ariaLabel: 'Tags' }, ...items);
}
