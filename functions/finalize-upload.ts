// S3 ObjectCreated under staging/, and a schedule that makes up for events that were lost
import { handleUploads } from '../lib/uploads/upload-events.ts';

export const handler = handleUploads;
