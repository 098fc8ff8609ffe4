import type { Context, S3Event } from 'aws-lambda';
import type { ExtractionResult } from './extract-archive.ts';
import { forEachObject } from './object-events.ts';

const reservedMs = 1000;
const wording = {
  function: 'extractHostNodes',
  line: 'extraction',
  failed: 'archives could not be read for host nodes',
};

/** Turns one handler into that of S3's events about published archives. */
export function archiveEvents(extract: (key: string, deadline: number) => Promise<ExtractionResult>) {
  return (event: S3Event, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<void> => {
    const deadline = Date.now() + context.getRemainingTimeInMillis() - reservedMs;
    return forEachObject(wording, event, (key) => extract(key, deadline));
  };
}
