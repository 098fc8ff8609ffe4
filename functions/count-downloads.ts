// S3 ObjectCreated of the distribution's logs, and a daily schedule that adds up the counts
export { countLogs as handler } from '../lib/downloads/count-downloads.ts';
