import type { CatalogEntry, IndexedNode } from '@node-registry/registry-rules/schemas/index-files';
import { foldNodeId } from '@node-registry/registry-rules/fold-node-id';
import { html, type Markup } from './markup.ts';
import { compactNumber, countOf, dateOf, dayBefore, foreign, icon } from './text.ts';

/* All readers of a list load its lines, and a node may have 260 KB. */
const maxName = 200;
const maxDescription = 300;
/** An address, or a small picture. */
const maxIcon = 2000;
const maxTexts = 1000;

export const beginning = (text: string, max: number) => text.slice(0, max).toWellFormed();

/** The first texts that have so many characters together. */
export function firstOf(texts: readonly string[] = []): string[] {
  let characters = 0;
  return texts.filter(({ length }) => {
    characters += length;
    return characters <= maxTexts;
  });
}

/** A node in lists and searches, as its file has it; undefined if none shows it. */
export function entryOf(node: IndexedNode): CatalogEntry | undefined {
  const { id, name, description, icon = '', publisher, latest_version: latest, search_ranking } = node;
  if (node.status !== 'NodeStatusActive' || !id || !latest?.version || !publisher?.id) return undefined;
  const { downloads, downloads_90_days, downloads_by_day = {}, created_at = '' } = node;
  const lately = Object.entries(downloads_by_day).filter(([day]) => day > dayBefore(30));
  const downloads_30_days = lately.reduce((sum, [, count]) => sum + count, 0);
  const tags = firstOf(node.tags);
  const supported_os = firstOf(latest.supported_os ?? node.supported_os);
  const supported_accelerators = firstOf(latest.supported_accelerators ?? node.supported_accelerators);
  const preempted = node.preempted_host_node_names;
  return {
    id,
    ...(name && { name: beginning(name, maxName) }),
    ...(description && { description: beginning(description, maxDescription) }),
    ...(icon && icon.length <= maxIcon && { icon }),
    ...(tags.length > 0 && { tags }),
    publisher: { id: publisher.id, ...(publisher.name && { name: publisher.name }) },
    latest_version: latest.version,
    ...(supported_os.length > 0 && { supported_os }),
    ...(supported_accelerators.length > 0 && { supported_accelerators }),
    ...(preempted?.length && { preempted_host_node_names: preempted }),
    ...(search_ranking !== undefined && { search_ranking }),
    ...(downloads && { downloads }),
    ...(downloads_30_days && { downloads_30_days }),
    ...(downloads_90_days && { downloads_90_days }),
    created_at,
    updated_at: latest.createdAt ?? created_at,
    versions: node.versions.filter(({ status }) => status !== 'NodeVersionStatusDeleted').length,
  };
}

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

/** The tags of these nodes, most frequent first. */
export function frequentTags(entries: readonly CatalogEntry[], max: number): string[] {
  const counts = new Map<string, number>();
  for (const { tags = [] } of entries) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => b - a).slice(0, max);
  return sorted.map(([tag]) => tag);
}
