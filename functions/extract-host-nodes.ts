// The queue's messages: reads a version's host nodes from its archive; a schedule queues those that are due
import { extractHostNodes } from '../lib/uploads/extract-archive.ts';

export const handler = extractHostNodes;
