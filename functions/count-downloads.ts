// S3 ObjectCreated of the distribution's logs, and a daily schedule that adds them up
import { countLogs } from '../lib/downloads/count-downloads.ts';

export const handler = countLogs;
