// S3 ObjectCreated under archives/: a version's host nodes are read out of its archive; and a schedule for lost events
import { extractArchive } from '../lib/uploads/extract-archive.ts';
import { objectEvents } from '../lib/uploads/object-events.ts';
import { sweepExtractions } from '../lib/uploads/sweep-extractions.ts';

export const handler = objectEvents({
  function: 'extractHostNodes',
  line: 'extraction',
  handle: extractArchive,
  sweep: sweepExtractions,
  lookBackMs: 24 * 60 * 60 * 1000,
  // Lambda repeats a failed event after one minute, and after two more.
  graceMs: 5 * 60 * 1000,
});
