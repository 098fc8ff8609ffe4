import { type Content, html, Markup } from './markup.ts';
import { visibleText, withoutTurns } from './text.ts';

/** Whose site it is: what an operator chooses for a stage. */
export interface Site {
  /** Without it, pages have no canonical URLs, and there is neither a feed nor a sitemap. */
  url?: string | undefined;
  name: string;
  logo?: string | undefined;
  /** URLs by their names, for the footer: terms, privacy, contact. */
  links: Readonly<Record<string, string>>;
  /** Where a node is reported, with `{id}`. */
  reportUrl?: string | undefined;
  /** The command that installs a version, with `{id}` and `{version}`. */
  toolPackage?: string | undefined;
}

export const plainSite: Site = { name: 'Node registry', links: {} };

export interface Page {
  /** The site's name follows it; without it, the site's name is the title. */
  title?: string;
  description: string;
  /** From the root of the site. */
  path?: string;
  /** A picture for link previews. */
  image?: string | undefined;
  /** Whether search engines may list it. */
  isListed?: boolean;
  /** Data for programs, as JSON-LD. */
  facts?: object;
  script?: 'page.js' | 'search.js' | 'studio.js' | 'account.js';
  /** A style beside the site's own. */
  style?: 'studio.css' | 'account.css';
  /** The header's links by their names, instead of the site's own and its search. */
  nav?: Readonly<Record<string, string>>;
  /** A word beside the name of the site. */
  badge?: string;
  /** The only other origins that the page reads and shows media of. */
  origins?: readonly string[];
  main: Content;
}

function policyOf(origins: readonly string[] | undefined): string {
  const others = origins?.join(' ') ?? '';
  return [
    `default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; connect-src 'self' ${others}`,
    origins ? `img-src 'self' blob: data: ${others}; media-src ${others}` : "img-src 'self' https: data:",
    "base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types registry",
  ].join('; ');
}

const siteNav = { Browse: '/search', 'Most used': '/nodes' };
const maxDescription = 200;

/** Two host nodes and their wire. Its colors are in the styles. */
const mark = html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><rect x="2" y="6" width="12" height="9" rx="3"/><path d="M14 10.5h3a3 3 0 0 1 3 3V17"/><rect class="second" x="18" y="17" width="12" height="9" rx="3"/></svg>`;

/** The button of a search, which Enter presses too. */
export const lens = html`<button type="submit" class="lens" aria-label="Find"><svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="7" cy="7" r="4.6"/><path d="m10.6 10.6 3.4 3.4"/></svg></button>`;

/** The styles of what follows a page's first screen, before it: a slow phone draws the screen first, and then the rest. */
export const partStyles = html`<link rel="stylesheet" href="/site/parts.css">`;

/** A whole page. */
export function layout(site: Site, page: Page): string {
  const title = visibleText(page.title === undefined ? site.name : `${page.title} · ${site.name}`);
  const description = withoutTurns(page.description).slice(0, maxDescription).toWellFormed();
  const url = site.url !== undefined && page.path !== undefined ? site.url + page.path : undefined;
  const own = page.image?.startsWith('https:') ? page.image : undefined;
  const image = own ?? (site.url && `${site.url}/site/preview.png`);
  const links = Object.entries(site.links);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policyOf(page.origins)}">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<meta name="description" content="${description}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="${site.name}">
${image && html`<meta property="og:image" content="${image}">`}
${url !== undefined && html`<link rel="canonical" href="${url}"><meta property="og:url" content="${url}">`}
${page.isListed === false && html`<meta name="robots" content="noindex">`}
${page.facts && jsonLd({ ...page.facts, ...(url !== undefined && { url }) })}
<link rel="icon" href="/site/icon.png">
${site.url !== undefined && html`<link rel="alternate" type="application/atom+xml" title="New versions" href="/feed.xml">`}
<link rel="stylesheet" href="/site/site.css">
${page.style && html`<link rel="stylesheet" href="/site/${page.style}">`}
${page.script && html`<script type="module" src="/site/${page.script}"></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><div class="wide"><a class="brand" href="/">${site.logo ? html`<img src="${site.logo}" alt="" width="28" height="28">` : mark}<span>${site.name}${page.badge && html` <span class="badge accent">${page.badge}</span>`}</span></a>
${page.script !== 'search.js' && !page.nav && html`<search><form class="find" action="/search"><input type="search" name="q" placeholder="Search" aria-label="Search nodes" autocomplete="off" spellcheck="false">${lens}</form></search>`}
<nav aria-label="Site">${Object.entries(page.nav ?? siteNav).map(([name, href]) => html`<a href="${href}"${href === page.path && html` aria-current="page"`}>${name}</a>`)}</nav></div></header>
<main id="main" tabindex="-1" class="wide">
${page.main}
</main>
<footer class="bottom"><div class="wide"><span>${site.name}</span>${
    (links.length > 0 || site.url !== undefined) &&
    html`<nav aria-label="About the site">${links.map(([name, href]) => html`<a href="${href}">${name}</a>`)}${site.url !== undefined && html`<a href="/site/openapi.json">openapi.json</a><a href="/feed.xml">Feed</a>`}</nav>`
  }</div></footer>
</body>
</html>
`.text;
}

/** Data, which no policy treats as a script. Nothing in it can end the element. */
function jsonLd(facts: object): Markup {
  const text = withoutTurns(JSON.stringify({ '@context': 'https://schema.org', ...facts }));
  return new Markup(`<script type="application/ld+json">${text.replaceAll('<', '\\u003c')}</script>`);
}

/** The page for an unknown URL. */
export function unknownPage(site: Site): string {
  return layout(site, {
    title: 'Not found',
    description: 'This registry has no such page.',
    isListed: false,
    main: html`<div class="empty"><h1>Not found</h1>
<p>This registry has no such node, version or publisher. A node that was published a moment ago has its page within seconds.</p>
<p><a class="button" href="/search">Search for another one</a></p></div>`,
  });
}
