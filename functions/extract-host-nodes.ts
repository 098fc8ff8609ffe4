// The queue's messages: reads a version's host nodes from its archive; a schedule queues those that are due
export { extractHostNodes as handler } from '../lib/uploads/extract-archive.ts';
