// S3 ObjectCreated of the distribution's logs, and a daily schedule that adds up the counts
import { countLogs } from '../lib/downloads/count-downloads.ts';

export const handler = countLogs;
