// The queue's messages, S3's about objects under staging/ too: publishes archives that arrived
export { finalizeUploads as handler } from '../lib/uploads/finalize-upload.ts';
