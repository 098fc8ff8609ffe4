import type { CatalogEntry } from '@node-registry/registry-rules/schemas/index-files';
import { foldNodeId } from '@node-registry/registry-rules/fold-node-id';
import { html, type Markup } from './markup.ts';
import { countOf, dateOf, foreign, icon } from './text.ts';

/** The path of the page of a node, or of one of its versions. */
export function nodeAddress(id: string, version?: string): string {
  return `/nodes/${[foldNodeId(id), ...(version === undefined ? [] : [version])].map(encodeURIComponent).join('/')}`;
}

type Named = { id?: string | undefined; name?: string | undefined };

export function publisherLink({ id = '', name }: Named): Markup {
  return html`<a href="/publishers/${encodeURIComponent(id)}">${foreign(name || id)}</a>`;
}

export function entryCard(entry: CatalogEntry): Markup {
  const {
    id,
    description,
    latest_version,
    updated_at,
    tags = [],
    host_nodes,
    downloads_90_days: downloads,
  } = entry;
  const name = entry.name || id;
  const more = [
    ...(host_nodes === undefined ? [] : [`, ${countOf(host_nodes, 'host node')}`]),
    ...(downloads ? [`, ${countOf(downloads, 'download')} in 90 days`] : []),
  ];
  return html`<li class="entry">${icon(entry.icon, name)}<div>
<h2><a href="${nodeAddress(id)}">${foreign(name)}</a> <small>${latest_version}</small></h2>
${description && html`<p class="description">${foreign(description)}</p>`}
<p class="quiet">by ${publisherLink(entry.publisher)}, ${dateOf(updated_at)}${more}</p>
${tagList(tags)}</div></li>`;
}

const maxTags = 8;

export function tagList(tags: readonly string[]): Markup | undefined {
  if (tags.length === 0) return undefined;
  const items = tags
    .slice(0, maxTags)
    .map(
      (tag) =>
        html`<li><a href="/search?${new URLSearchParams({ tag }).toString()}">${foreign(tag)}</a></li>`,
    );
  return html`<ul class="tags" aria-label="Tags">${items}</ul>`;
}
