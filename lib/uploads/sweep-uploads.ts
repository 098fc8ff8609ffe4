import { randomUUID } from 'node:crypto';
import { findObject } from '../bucket/bucket.ts';
import { stagingKey } from '../bucket/object-keys.ts';
import type { Context } from '../context.ts';
import { finishPublishing } from '../registry/latest-version.ts';
import { type ListedVersion, readListedVersions } from '../registry/listed-versions.ts';
import { type UploadState, finalizeUpload } from './finalize-upload.ts';
import { type DueKey, type Period, type Sweep, sweepDue, type SweepReport } from '../store/due.ts';

interface ListedUpload extends ListedVersion {
  hasArrived: boolean;
}

/** A signed URL takes uploads for fifteen minutes, and a large one may need as long again to arrive. */
const patienceMs = 30 * 60 * 1000;

/** More would fill the memory with archives. */
const visitsAtOnce = 4;

/** Kept for a visit without a check: a sweep that Lambda kills writes no summary, and is run again twice. */
const visitMs = 5_000;

/** 100 MB take about 20 seconds alone; archives that are checked at the same time share the processor. */
const checkedBytesPerMs = 5_000;

/** A sweep that has just begun takes an archive of any size. */
const maxCheckMs = 120_000;

/** Finds versions whose events were lost and finishes them, newest first, so that old spam never delays a recent loss. */
export function sweepUploads(
  context: Context,
  period: Period,
  onVisited?: Sweep<ListedUpload, UploadState>['onVisited'],
): Promise<SweepReport> {
  const finalizerId = randomUUID();
  const hasTimeFor = (sizeBytes: number) => {
    const checkMs = Math.min(maxCheckMs, (visitsAtOnce * sizeBytes) / checkedBytesPerMs);
    return Date.now() + visitMs + checkMs <= context.deadline;
  };
  return sweepDue<ListedUpload, UploadState>(context, {
    work: 'uploads',
    period,
    order: 'newest first',
    visitsAtOnce,
    hasTime: () => hasTimeFor(0),
    read: (keys) => readUploads(context, keys),
    visit: async (version) => {
      if (!version.awaits) {
        await finishPublishing(context, version.nodeId, version.version);
        return 'completed';
      }
      const result = version.hasArrived
        ? await finalizeUpload(context, stagingKey(version.awaits), finalizerId, hasTimeFor)
        : 'missing';
      if (result !== 'missing') return result;
      return Date.parse(version.since) + patienceMs < Date.now() ? 'abandoned' : 'waiting';
    },
    unexpected: ['published', 'completed'],
    quiet: ['waiting', 'abandoned'],
    nameOf: ({ nodeId, version }) => ({ node_id: nodeId, version }),
    onVisited,
  });
}

/** Most uploads never came; they are looked for a page at a time, so that many do not delay the others. */
async function readUploads(context: Context, keys: readonly DueKey[]): Promise<ListedUpload[]> {
  const listed = await readListedVersions(context, keys);
  const look = async ({ awaits }: ListedVersion) =>
    // A failure is found again, and reported, by the visit.
    awaits !== undefined && findObject(stagingKey(awaits)).then(Boolean, () => true);
  return Promise.all(listed.map(async (version) => ({ ...version, hasArrived: await look(version) })));
}
