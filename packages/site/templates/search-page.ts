import { layout, lens, partStyles, type Site } from './layout.ts';
import { html, type Markup } from './markup.ts';
import { accelerators, systems } from './runs-on.ts';

function options(kinds: Readonly<Record<string, { name: string }>>): Markup[] {
  return Object.entries(kinds).map(([key, { name }]) => html`<option value="${key}">${name}</option>`);
}

/** The form of the start page and of the search. On the start page the script shows the rest once there is a search. */
export const searchForm = (isHome: boolean) => html`<search><form id="search-form" action="/search">
<div class="find large"><input id="search-text" name="q" type="search" aria-label="Search" placeholder="Name, host node, publisher" autocomplete="off" spellcheck="false">${lens}</div>
<div class="row" id="search-filters"${isHome && html` hidden`}>
<label>Tag <select id="search-tag"><option value="">Any</option></select></label>
<label>System <select id="search-system"><option value="">Any</option>${options(systems)}</select></label>
<label>Accelerator <select id="search-accelerator"><option value="">Any</option>${options(accelerators)}</select></label>
<label>Order <select id="search-order"><option value="">Best first</option><option value="newest">Newest first</option><option value="name">By name</option></select></label>
</div></form></search>`;

export const searchResults = (
  isHome: boolean,
) => html`${partStyles}<section id="found" aria-labelledby="results-title"${isHome && html` hidden`}><h2 id="results-title" class="unseen">Results</h2>
<p id="search-status" role="status">The search is loading. If nothing happens, load the page again, or read <a href="/nodes">the most used nodes</a>.</p>
<ul id="results" class="plain results"></ul>
<p class="more"><button id="more-results" type="button" hidden>Show more</button></p></section>
<noscript><p class="notice plain">The search needs JavaScript. Without it, read the pages of <a href="/nodes">the most used nodes</a>.</p></noscript>`;

export function searchPage(site: Site): string {
  return layout(site, {
    title: 'Search',
    path: '/search',
    description: 'Search the extensions that are published in this registry.',
    isListed: false,
    script: 'search.js',
    main: html`<h1>Search</h1>${searchForm(false)}${searchResults(false)}`,
  });
}
