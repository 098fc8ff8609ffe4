import type { Context, S3Event } from 'aws-lambda';
import { describeError, log } from '../log.ts';
import type { ExtractionResult } from './extract-archive.ts';
import { forEachObject } from './object-events.ts';
import { type SweepEvent, sweepPeriod } from './sweep-period.ts';
import type { SweptExtraction } from './sweep-extractions.ts';

interface Handlers {
  extract: (key: string, deadline: number) => Promise<ExtractionResult>;
  sweep: (sweep: { from: number; to: number; deadline: number }) => Promise<SweptExtraction[]>;
}

type ArchiveEvent = S3Event | SweepEvent;

const reservedMs = 1000;
const wording = {
  function: 'extractHostNodes',
  line: 'extraction',
  failed: 'archives could not be read for host nodes',
};

/** A day's runs get their chance; then an archive that cannot be read is left to an administrator. */
const lookBackMs = 24 * 60 * 60 * 1000;

/** Lambda repeats a failed event after one minute, and after two more. */
const graceMs = 5 * 60 * 1000;

/** Turns two handlers into one for S3's events about published archives and for a schedule. */
export function archiveEvents({ extract, sweep }: Handlers) {
  return async (event: ArchiveEvent, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<void> => {
    const deadline = Date.now() + context.getRemainingTimeInMillis() - reservedMs;
    if ('Records' in event) return forEachObject(wording, event, (key) => extract(key, deadline));
    report(await sweep({ ...sweepPeriod(event, lookBackMs, graceMs), deadline }));
  };
}

function report(swept: readonly SweptExtraction[]): void {
  for (const { nodeId, version, finding, error } of swept) {
    const isError = finding === 'error';
    const causes = isError ? describeError(error) : {};
    log(isError ? 'error' : 'info', 'swept_extraction', { node_id: nodeId, version, finding, ...causes });
  }
  const failed = swept.filter(({ finding }) => finding === 'error').length;
  log('info', 'extraction_sweep', { versions: swept.length, failed });
  if (failed > 0)
    throw new Error(`The host nodes of ${failed} of ${swept.length} versions could not be read.`);
}
