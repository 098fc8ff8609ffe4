// Each minute, if a node changed: the most used nodes, the pages of publishers, the feed and the sitemap are written
import { writeCatalog } from '../lib/index/write-catalog.ts';

export const handler = writeCatalog;
