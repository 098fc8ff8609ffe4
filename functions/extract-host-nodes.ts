// S3 ObjectCreated under archives/: a version's host nodes are read out of its archive
import { archiveEvents } from '../lib/uploads/archive-events.ts';
import { extractArchive } from '../lib/uploads/extract-archive.ts';

export const handler = archiveEvents(extractArchive);
