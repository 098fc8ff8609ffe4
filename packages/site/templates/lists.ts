import type { CatalogEntry } from '@node-registry/registry-rules/schemas/index-files';
import { entryCard, nodeAddress } from './entry.ts';
import { layout } from './layout.ts';
import { html } from './markup.ts';
import { countOf, foreign, visibleText, withoutTurns } from './text.ts';

export { byUse } from '@node-registry/registry-client/search-words';

/** The page of a publisher with its nodes; no entries mean that it has none left. */
export function publisherPage(
  siteUrl: string | undefined,
  publisher: CatalogEntry['publisher'],
  entries: readonly CatalogEntry[],
): string {
  const name = publisher.name || publisher.id;
  return layout(siteUrl, {
    title: `${name} · Node registry`,
    description: `The ${countOf(entries.length, 'node')} that ${name} publishes.`,
    path: `/publishers/${encodeURIComponent(publisher.id)}`,
    isListed: entries.length > 0,
    main: html`<h1>${foreign(name)}</h1><p class="quiet"><code>${publisher.id}</code> publishes ${countOf(entries.length, 'node')}.</p>
<ul class="plain results">${entries.map(entryCard)}</ul>`,
  });
}

/** The most used nodes, for readers without scripts. */
export function nodesPage(siteUrl: string | undefined, entries: readonly CatalogEntry[]): string {
  return layout(siteUrl, {
    title: 'Most used nodes · Node registry',
    description: 'The most used extensions of this registry.',
    path: '/nodes',
    main: html`<h1>Most used nodes</h1><ul class="plain results">${entries.map(entryCard)}</ul>`,
  });
}

const xml = '<?xml version="1.0" encoding="utf-8"?>\n';
const maxFed = 50;
/** The limit of URLs in a sitemap. */
const maxMapped = 50_000;

/** An Atom feed of the latest versions. Its ids are URLs, so it exists only if they last. */
export function feed(siteUrl: string, entries: readonly CatalogEntry[]): string {
  const latest = entries.toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1)).slice(0, maxFed);
  // XML allows fewer characters than a publisher's text may have.
  const plain = (text: string) =>
    withoutTurns(text).replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
  return (
    xml +
    html`<feed xmlns="http://www.w3.org/2005/Atom">
<id>${siteUrl}/</id><title>Node registry: new versions</title><updated>${latest[0]?.updated_at ?? '1970-01-01T00:00:00Z'}</updated>
<link rel="self" href="${siteUrl}/feed.xml"/><link href="${siteUrl}/search"/>
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
  const publishers = new Set(
    entries.map(({ publisher }) => `/publishers/${encodeURIComponent(publisher.id)}`),
  );
  const nodes = entries.map(
    ({ id, updated_at }) =>
      html`<url><loc>${siteUrl}${nodeAddress(id)}</loc><lastmod>${updated_at}</lastmod></url>\n`,
  );
  const others = ['/search', '/nodes', ...publishers].map(
    (path) => html`<url><loc>${siteUrl}${path}</loc></url>\n`,
  );
  const urls = [...nodes, ...others].slice(0, maxMapped);
  return xml + html`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls}</urlset>\n`.text;
}

export function robots(siteUrl: string): string {
  return `User-agent: *\nAllow: /\nDisallow: /index/\n\nSitemap: ${siteUrl}/sitemap.xml\n`;
}
