// The queue's messages: a version's host nodes are read out of its archive; every ten minutes what is due goes there
import { extractHostNodes } from '../lib/uploads/extract-archive.ts';

export const handler = extractHostNodes;
