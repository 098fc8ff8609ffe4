import type { Context as Invocation, S3Event } from 'aws-lambda';
import type { Context } from '../context.ts';
import { describeError, log } from '../log.ts';
import type { ExtractionResult } from './extract-archive.ts';
import { forEachObject } from './object-events.ts';
import { type Period, type SweepEvent, sweepPeriod } from './sweep-period.ts';
import type { SweptExtraction } from './sweep-extractions.ts';

interface Handlers {
  extract: (context: Context, key: string) => Promise<ExtractionResult>;
  sweep: (context: Context, period: Period) => Promise<SweptExtraction[]>;
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
  return async (
    event: ArchiveEvent,
    invocation: Pick<Invocation, 'getRemainingTimeInMillis'>,
  ): Promise<void> => {
    const context: Context = { deadline: Date.now() + invocation.getRemainingTimeInMillis() - reservedMs };
    if ('Records' in event) return forEachObject(wording, event, (key) => extract(context, key));
    report(await sweep(context, sweepPeriod(event, lookBackMs, graceMs)));
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
