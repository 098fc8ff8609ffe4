// S3 ObjectCreated under staging/, and a schedule that makes up for events that were lost
import { finalizeUpload } from '../lib/uploads/finalize-upload.ts';
import { objectEvents } from '../lib/uploads/object-events.ts';
import { sweepUploads } from '../lib/uploads/sweep-uploads.ts';

export const handler = objectEvents({
  function: 'finalizeUpload',
  line: 'upload',
  handle: finalizeUpload,
  sweep: sweepUploads,
  lookBackMs: 6 * 60 * 60 * 1000,
  graceMs: 60 * 1000,
});
