import type { CatalogEntry } from '@node-registry/registry-rules/schemas/index-files';
import { foldNodeId } from '@node-registry/registry-rules/fold-node-id';
import { html, type Markup } from './markup.ts';
import { compactNumber, countOf, dateOf, foreign, icon } from './text.ts';

/** The path of the page of a node, or of one of its versions. */
export function nodeAddress(id: string, version?: string): string {
  return `/nodes/${[foldNodeId(id), ...(version === undefined ? [] : [version])].map(encodeURIComponent).join('/')}`;
}

export function publisherAddress(id: string): string {
  return `/publishers/${encodeURIComponent(foldNodeId(id))}`;
}

type Named = { id?: string | undefined; name?: string | undefined };

export function publisherLink({ id = '', name }: Named): Markup {
  return html`<a href="${publisherAddress(id)}">${foreign(name || id)}</a>`;
}

export function entryList(entries: readonly CatalogEntry[]): Markup {
  return html`<ul class="plain results">${entries.map(entryCard)}</ul>`;
}

const maxTagsOfCard = 3;

export function entryCard(entry: CatalogEntry): Markup {
  const { id, description, latest_version, updated_at, tags = [], host_nodes } = entry;
  const name = entry.name || id;
  const downloads = entry.downloads_90_days;
  return html`<li class="card"><div class="head">${icon(entry.icon, name, id)}<div>
<h3><a href="${nodeAddress(id)}">${foreign(name)}</a></h3>
<p class="by">${publisherLink(entry.publisher)}${name !== id && html` · <code>${id}</code>`}</p></div></div>
${description && html`<p class="description">${foreign(description)}</p>`}
${tagList(tags, maxTagsOfCard)}
<p class="meta">${downloads ? html`<span>↓ ${compactNumber(downloads)}<span class="unseen"> downloads in 90 days</span></span>` : undefined}<span>${latest_version}</span><span>${dateOf(updated_at)}</span>${host_nodes ? html`<span>${countOf(host_nodes, 'host node')}</span>` : undefined}</p></li>`;
}

function tagAddress(tag: string): string {
  return `/search?${new URLSearchParams({ tag }).toString()}`;
}

/** The first tags; a number says how many more there are, and a line opens them where there is room. */
export function tagList(tags: readonly string[], shown: number, isFolded = false): Markup | undefined {
  if (tags.length === 0) return undefined;
  const items = tags.map(
    (tag) => html`<li><a class="chip" href="${tagAddress(tag)}">${foreign(tag)}</a></li>`,
  );
  const rest = items.slice(shown);
  const more =
    rest.length > 0 && !isFolded
      ? html`<li class="chip" title="${countOf(rest.length, 'more tag')}">+${rest.length}</li>`
      : undefined;
  const list = html`<ul class="chips" aria-label="Tags">${items.slice(0, shown)}${more}</ul>`;
  if (rest.length === 0 || !isFolded) return list;
  return html`${list}<details><summary>${countOf(rest.length, 'more tag')}</summary><ul class="chips">${rest}</ul></details>`;
}
