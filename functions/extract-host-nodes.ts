// S3 ObjectCreated under archives/: a version's host nodes are read out of its archive; and a schedule for lost events
import { archiveEvents } from '../lib/uploads/archive-events.ts';
import { extractArchive } from '../lib/uploads/extract-archive.ts';
import { sweepExtractions } from '../lib/uploads/sweep-extractions.ts';

export const handler = archiveEvents({ extract: extractArchive, sweep: sweepExtractions });
