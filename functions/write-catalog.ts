// Each minute, if a node changed: writes the top nodes, the publishers' pages, the feed and the sitemap
import { writeCatalog } from '../lib/index/write-catalog.ts';

export const handler = writeCatalog;
