import { type Content, html, Markup } from './markup.ts';
import { withoutTurns, visibleText } from './text.ts';

export interface Page {
  title: string;
  description: string;
  /** From the root of the site. */
  path?: string;
  /** A picture for link previews. */
  image?: string | undefined;
  /** Whether search engines may list it. */
  isListed?: boolean;
  /** Data for programs, as JSON-LD. */
  facts?: object;
  scripts?: readonly string[];
  /** Links to pages next to the site, for example in the local stack. */
  links?: Record<string, string>;
  main: Content;
}

const policy = [
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; connect-src 'self'",
  "img-src 'self' https: data:; base-uri 'none'; form-action 'self'",
  "require-trusted-types-for 'script'; trusted-types registry",
].join('; ');

const maxDescription = 200;

/** A whole page. Canonical URLs and the feed exist only if the site has a domain name. */
export function layout(siteUrl: string | undefined, page: Page): string {
  const title = visibleText(page.title);
  const description = withoutTurns(page.description).slice(0, maxDescription).toWellFormed();
  const url = siteUrl !== undefined && page.path !== undefined ? siteUrl + page.path : undefined;
  const links = Object.entries(page.links ?? {}).map(([name, href]) => html`<a href="${href}">${name}</a> `);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<meta name="description" content="${description}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="Node registry">
${page.image !== undefined && html`<meta property="og:image" content="${page.image}">`}
${url !== undefined && html`<link rel="canonical" href="${url}"><meta property="og:url" content="${url}">`}
${page.isListed === false && html`<meta name="robots" content="noindex">`}
${page.facts && jsonLd({ ...page.facts, ...(url !== undefined && { url }) })}
<link rel="icon" href="data:,">
${siteUrl !== undefined && html`<link rel="alternate" type="application/atom+xml" title="New versions" href="/feed.xml">`}
<link rel="stylesheet" href="/site/site.css">
${page.scripts?.map((name) => html`<script type="module" src="/site/${name}"></script>`)}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><a class="brand" href="/search">Node registry</a>
<nav aria-label="Pages"><a href="/search">Search</a> ${links}</nav></header>
<main id="main" tabindex="-1">
${page.main}
</main>
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
export function unknownPage(): string {
  return layout(undefined, {
    title: 'Not found · Node registry',
    description: 'This registry has no such page.',
    isListed: false,
    main: html`<h1>Not found</h1>
<p>This registry has no such node, version or publisher. A node that was published a moment ago has its page within seconds.</p>
<p><a href="/search">Search for another one</a>.</p>`,
  });
}
