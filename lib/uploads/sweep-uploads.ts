import type { Context } from '../context.ts';
import { randomUUID } from 'node:crypto';
import type { Period } from './sweep-period.ts';
import { stagingKey } from '../bucket/object-keys.ts';
import { completeVersion } from '../registry/finalizing.ts';
import { findListedVersions, type ListedVersion } from '../registry/pending-versions.ts';
import { finalizeUpload, type UploadResult } from './finalize-upload.ts';

/** As for an upload, or: `completed`, only the node's latest_version was left to do; `unvisited`, time ran out. */
export type Finding =
  | Exclude<UploadResult, 'postponed'>
  | 'completed'
  | 'waiting'
  | 'abandoned'
  | 'failed'
  | 'unvisited';

interface Visit {
  finding: Finding;
  /** Why it failed. */
  error?: unknown;
}

export type Swept = ListedVersion & Visit;

/** A signed URL takes uploads for fifteen minutes, and a large one may need as long again to arrive. */
const patienceMs = 30 * 60 * 1000;

/** Most visits find nothing under the key; a few at a time hide the way to S3 without filling the memory. */
const maxVisitsAtOnce = 4;

/** Kept for a visit without a check: a sweep that Lambda kills writes no summary, and is run again twice. */
const visitMs = 5_000;

/** 100 MB take about 20 seconds alone; archives that are checked at the same time share the processor. */
const checkedBytesPerMs = 5_000;

/** A sweep that has just begun takes an archive of any size. */
const maxCheckMs = 120_000;

/**
 * Finds versions whose events were lost and finishes them, newest first. One version that fails does not
 * stop the others. Everything it does may be done by events at the same time.
 */
export async function sweepUploads(context: Context, { from, to }: Period): Promise<Swept[]> {
  const listed = await findListedVersions(context, 'upload', timestamp(from), timestamp(to));
  const swept: Swept[] = listed.map((version) => ({ ...version, finding: 'unvisited' }));
  const left = swept.values();
  const finalizer = randomUUID();
  const visitNext = async () => {
    for (const version of left) {
      if (!hasTimeFor(context, 0)) return;
      Object.assign(version, await visit(context, version, finalizer));
    }
  };
  await Promise.all(Array.from({ length: maxVisitsAtOnce }, visitNext));
  return swept;
}

function hasTimeFor(context: Context, sizeBytes: number): boolean {
  const checkMs = Math.min(maxCheckMs, (maxVisitsAtOnce * sizeBytes) / checkedBytesPerMs);
  return Date.now() + visitMs + checkMs <= context.deadline;
}

/** What was found; undefined where there was no time to look. */
async function visit(
  context: Context,
  version: ListedVersion,
  finalizer: string,
): Promise<Visit | undefined> {
  try {
    if (version.awaits === undefined) {
      await completeVersion(context, version.nodeId, version.version);
      return { finding: 'completed' };
    }
    const result = await finalizeUpload(context, stagingKey(version.awaits), finalizer, (bytes) =>
      hasTimeFor(context, bytes),
    );
    if (result === 'postponed') return undefined;
    if (result !== 'missing') return { finding: result };
    return { finding: Date.parse(version.since) + patienceMs < Date.now() ? 'abandoned' : 'waiting' };
  } catch (error) {
    return { finding: 'failed', error };
  }
}

function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
