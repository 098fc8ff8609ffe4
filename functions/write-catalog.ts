// Each minute, if a node changed: writes the top nodes, the publishers' pages, the feed and the sitemap
export { writeCatalog as handler } from '../lib/index/write-catalog.ts';
