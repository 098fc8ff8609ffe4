import { layout } from './layout.ts';
import { html } from './markup.ts';

/** The start page. `links` adds links to pages next to the site. */
export function searchPage(siteUrl: string | undefined, links: Record<string, string>): string {
  return layout(siteUrl, {
    title: 'Node registry',
    path: '/search',
    description: 'Search the extensions that are published in this registry.',
    scripts: ['search.js'],
    links,
    main: html`<h1>Find a node</h1>
<p class="quiet">Extensions of the host application, with the host nodes that each version brings.</p>
<search><form id="search-form" class="row" action="/search">
<div class="field grows"><label for="search-text">Search</label><input id="search-text" name="q" type="search" placeholder="Name, host node, publisher or tag" autocomplete="off" spellcheck="false"></div>
<div class="field"><label for="search-tag">Tag</label><select id="search-tag"><option value="">Any</option></select></div>
<div class="field"><label for="search-order">Order</label><select id="search-order"><option value="">Best first</option><option value="newest">Newest first</option><option value="name">By name</option></select></div>
</form></search>
<p id="search-status" role="status">Loading the most used nodes…</p>
<ul id="results" class="plain results"></ul>
<button id="more-results" type="button" hidden>Show more</button>
<noscript><p class="notice">The search needs JavaScript. Without it, read the pages of <a href="/nodes">the most used nodes</a>.</p></noscript>`,
  });
}
