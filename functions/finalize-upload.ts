// S3 ObjectCreated under staging/, and a schedule that makes up for lost events
import { handleUploads } from '../lib/uploads/upload-events.ts';

export const handler = handleUploads;
