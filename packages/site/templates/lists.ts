import type { CatalogEntry, PublisherProfile } from '@node-registry/registry-rules/schemas/index-files';
import { entryList, frequentTags, nodeAddress, publisherAddress, tagList } from './entry.ts';
import { layout, partStyles, type Site } from './layout.ts';
import { type Content, html } from './markup.ts';
import { searchForm, searchResults } from './search-page.ts';
import { compactNumber, countOf, facts, foreign, icon, lines, pictureAddress, visibleText } from './text.ts';
import { webLink, withoutTurns } from './text.ts';

export { byUse } from '@node-registry/registry-client/search-words';

type Publisher = CatalogEntry['publisher'] & Omit<PublisherProfile, 'id'>;

/** The page of a publisher with its nodes, most used first; no entries mean that it has none left. */
export function publisherPage(site: Site, publisher: Publisher, entries: readonly CatalogEntry[]): string {
  const { id, description, website, support, source_code_repo: source, member_names: members } = publisher;
  const name = publisher.name || id;
  const logo = pictureAddress(publisher.logo);
  const downloads = entries.reduce((sum, entry) => sum + (entry.downloads_90_days ?? 0), 0);
  const isListed = entries.length > 0;
  const links = facts({
    Website: website && webLink(website),
    Support: support && webLink(support),
    'Source code': source && webLink(source),
    Members: members?.join(', '),
  });
  const organization = { '@type': 'Organization', name, description: description || undefined, logo };
  return layout(site, {
    title: name,
    description: description || `The ${countOf(entries.length, 'node')} that ${name} publishes.`,
    path: publisherAddress(id),
    image: logo,
    isListed,
    script: 'page.js',
    ...(isListed && { facts: organization }),
    main: html`<div class="intro"><div class="title">${icon(logo, name, id)}<div><h1>${foreign(name)}</h1>
<p class="by"><code>${id}</code></p></div></div>
${description && html`<div class="lead" dir="auto">${lines(description)}</div>`}
<p class="meta"><span>${countOf(entries.length, 'node')}</span>${downloads > 0 && html`<span>↓ ${compactNumber(downloads)} in 90 days</span>`}</p>
${links && html`<section class="box profile" aria-label="Profile">${links}</section>`}</div>
${partStyles}<h2>Nodes</h2>
${isListed ? entryList(entries) : html`<p class="empty">Nothing of this publisher is offered now.</p>`}`,
  });
}

/** The most used nodes, for readers without scripts. */
export function nodesPage(site: Site, entries: readonly CatalogEntry[]): string {
  const title = entries.some(isUsed) ? 'Most used nodes' : 'Nodes';
  return layout(site, {
    title,
    description: 'The most used extensions of this registry.',
    path: '/nodes',
    script: 'page.js',
    main: html`<h1>${title}</h1><h2 class="unseen">List</h2>${partStyles}${entries.length > 0 ? entryList(entries) : nothingYet}`,
  });
}

const nothingYet = html`<p class="empty">Nothing is published here yet.</p>`;
const shownOnHome = 6;
const tagsOnHome = 12;

function isUsed({ downloads_90_days }: CatalogEntry): boolean {
  return (downloads_90_days ?? 0) > 0;
}

/** The start page: the search, the registry in numbers, and its nodes by use and by date. */
export function homePage(site: Site, entries: readonly CatalogEntry[]): string {
  const by = (date: (entry: CatalogEntry) => string | undefined) =>
    entries.toSorted((a, b) => (date(b) ?? '').localeCompare(date(a) ?? ''));
  const added = by(({ created_at }) => created_at).filter(({ created_at }) => created_at);
  const isLarge = entries.length > shownOnHome;
  const lists: [title: string, entries: readonly CatalogEntry[]][] = [
    ['Most used', entries.filter(isUsed)],
    ['Recently updated', by(({ updated_at }) => updated_at)],
    ['New', isLarge ? added : []],
  ];
  return layout(site, {
    description: 'Search the extensions that are published in this registry.',
    path: '/',
    script: 'search.js',
    main: html`<div class="hero"><h1>Find a node</h1>
<p>Extensions of the host application. Read what each version brings before you install it.</p>
${searchForm(true)}
<div class="home">${tagList(frequentTags(entries, tagsOnHome), tagsOnHome)}${numbersOf(entries)}</div></div>
${searchResults(true)}
<div class="home">${lists.map(([title, of]) => of.length > 0 && html`<h2>${title}</h2>${entryList(of.slice(0, shownOnHome))}`)}
${entries.length === 0 ? nothingYet : html`<p class="more"><a class="button" href="/nodes">All of the most used</a></p>`}</div>`,
  });
}

function numbersOf(entries: readonly CatalogEntry[]): Content {
  const sum = (field: 'versions' | 'host_nodes' | 'downloads_30_days') =>
    entries.reduce((total, entry) => total + (entry[field] ?? 0), 0);
  const numbers: [number, string][] = [
    [entries.length, 'nodes'],
    [sum('versions'), 'versions'],
    [sum('host_nodes'), 'host nodes'],
    [sum('downloads_30_days'), 'downloads in 30 days'],
  ];
  const items = numbers.filter(([count]) => count > 0);
  if (items.length === 0) return undefined;
  return html`<ul class="stats">${items.map(([count, what]) => html`<li><b>${compactNumber(count)}</b> ${what}</li>`)}</ul>`;
}

const xml = '<?xml version="1.0" encoding="utf-8"?>\n';
const maxFed = 50;
/** The limit of URLs in a sitemap. */
const maxMapped = 50_000;

/** An Atom feed of the latest versions. Its ids are URLs, so it exists only if they last. */
export function feed(siteUrl: string, siteName: string, entries: readonly CatalogEntry[]): string {
  const latest = entries.toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1)).slice(0, maxFed);
  // XML allows fewer characters than a publisher's text may have.
  const plain = (text: string) =>
    withoutTurns(text).replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
  return (
    xml +
    html`<feed xmlns="http://www.w3.org/2005/Atom">
<id>${siteUrl}/</id><title>${plain(siteName)}: new versions</title><updated>${latest[0]?.updated_at ?? '1970-01-01T00:00:00Z'}</updated>
<link rel="self" href="${siteUrl}/feed.xml"/><link href="${siteUrl}/"/>
${latest.map(
  (entry) => html`<entry><id>${siteUrl}${nodeAddress(entry.id, entry.latest_version)}</id>
<title>${plain(visibleText(entry.name || entry.id))} ${entry.latest_version}</title><updated>${entry.updated_at}</updated>
<link href="${siteUrl}${nodeAddress(entry.id, entry.latest_version)}"/>
<author><name>${plain(visibleText(entry.publisher.name || entry.publisher.id))}</name></author>
<summary>${plain(entry.description ?? '')}</summary></entry>
`,
)}</feed>
`.text
  );
}

export function sitemap(siteUrl: string, entries: readonly CatalogEntry[]): string {
  const publishers = new Set(entries.map(({ publisher }) => publisherAddress(publisher.id)));
  const nodes = entries.map(
    ({ id, updated_at }) =>
      html`<url><loc>${siteUrl}${nodeAddress(id)}</loc><lastmod>${updated_at}</lastmod></url>\n`,
  );
  const others = ['/', '/nodes', ...publishers].map(
    (path) => html`<url><loc>${siteUrl}${path}</loc></url>\n`,
  );
  const urls = [...nodes, ...others].slice(0, maxMapped);
  return xml + html`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls}</urlset>\n`.text;
}

export function robots(siteUrl: string): string {
  return `User-agent: *\nAllow: /\nDisallow: /index/\nDisallow: /search\n\nSitemap: ${siteUrl}/sitemap.xml\n`;
}
