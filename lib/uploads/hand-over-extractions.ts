import { maxMessages } from '../aws/queue.ts';
import type { Context } from '../context.ts';
import { describeError, log } from '../log.ts';
import { postponeExtraction } from '../registry/extraction-tries.ts';
import { type ListedVersion, readListedVersions } from '../registry/pending-versions.ts';
import { duePages } from '../store/due.ts';
import { enqueueArchives } from './extraction-queue.ts';

export interface HandOver {
  /** Versions that were handed to the queue. */
  handed: number;
  failed: number;
  unread_shards: number;
}

/** With less time left, no further page is begun. */
const reservedMs = 10_000;

/**
 * Hands every version whose extraction is due to the queue: those whose message was lost or was received too often. Each
 * is listed for later before its message is sent, so no run hands over what an earlier one did, however long the queue is.
 */
export async function handOverExtractions(context: Context): Promise<HandOver> {
  const run: HandOver = { handed: 0, failed: 0, unread_shards: 0 };
  const due = {
    work: 'host-nodes',
    period: { from: 0, to: Date.now() },
    order: 'newest first',
    hasTime: () => Date.now() < context.deadline - reservedMs,
  } as const;
  for await (const keys of duePages(context, due, run)) {
    const versions = await readListedVersions(context, keys);
    const batches = Array.from({ length: Math.ceil(versions.length / maxMessages) }, (_, place) =>
      versions.slice(place * maxMessages, (place + 1) * maxMessages),
    );
    await Promise.all(batches.map((batch) => handOver(context, batch, run)));
  }
  const sweep_findings = run.handed + run.failed;
  log('info', 'sweep', { sweep: 'host-nodes', ...run, sweep_findings, sweep_unvisited: run.unread_shards });
  return run;
}

async function handOver(context: Context, versions: readonly ListedVersion[], run: HandOver): Promise<void> {
  const taken = await Promise.all(
    versions.map((version) =>
      postponeExtraction(context, version).then(
        (isTaken) => (isTaken ? version : undefined),
        (error: unknown) => fail(run, 1, error),
      ),
    ),
  );
  const keys = taken.flatMap((version) => version?.archiveKey ?? []);
  if (keys.length === 0) return;
  await enqueueArchives(context, keys).then(
    () => {
      run.handed += keys.length;
    },
    (error: unknown) => fail(run, keys.length, error),
  );
}

/** What failed is due again in an hour. */
function fail(run: HandOver, versions: number, error: unknown): undefined {
  run.failed += versions;
  log('error', 'swept', { sweep: 'host-nodes', versions, ...describeError(error) });
}
