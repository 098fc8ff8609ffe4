import { createPublicIndex } from 'registry-client';
import { at } from './elements.ts';
import { createSearchPage } from './search-page.ts';
import { createNodePage } from './node-page.ts';

/** Of the host that serves this page. */
const index = createPublicIndex({ downloadsUrl: location.origin, attempts: 2 });
const search = createSearchPage(index);
const node = createNodePage(index);

/** Addresses are behind the #, so any store of files can serve the site: `#/?q=…`, `#/nodes/ID`, `#/nodes/ID/VERSION`. */
function showPage(isFirst: boolean): void {
  const { pathname, searchParams } = new URL(location.hash.slice(1) || '/', 'https://site.invalid');
  const [, kind, id, version] = pathname.split('/').map(decoded);
  const isNode = kind === 'nodes' && Boolean(id);
  at('search-page').hidden = isNode;
  at('node-page').hidden = !isNode;
  if (isNode && id) void node.show(id, version);
  else void search.show(searchParams);
  if (isFirst) return;
  scrollTo(0, 0);
  if (isNode) at('main').focus();
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

addEventListener('hashchange', () => {
  // The link that skips to the content is not a page.
  if (location.hash !== '#main') showPage(false);
});
showPage(true);
