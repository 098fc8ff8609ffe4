// The queue's messages, S3's about objects under staging/ too: publishes archives that arrived
import { finalizeUploads } from '../lib/uploads/finalize-upload.ts';

export const handler = finalizeUploads;
