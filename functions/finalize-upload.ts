// S3 ObjectCreated under staging/, and a schedule that makes up for events that were lost
import { sweepSpending } from '../lib/spend/sweep-holds.ts';
import { finalizeUpload } from '../lib/uploads/finalize-upload.ts';
import { sweepUploads } from '../lib/uploads/sweep-uploads.ts';
import { uploadEvents } from '../lib/uploads/upload-events.ts';

export const handler = uploadEvents({
  finalize: finalizeUpload,
  sweep: sweepUploads,
  alsoHourly: sweepSpending,
});
