import type { Context } from '../context.ts';
import { describeError, log } from '../log.ts';
import type { Clause, Condition } from '../store/expressions.ts';
import { nodeVersionKey } from '../store/keys.ts';
import { update } from '../store/write.ts';
import type { Upload } from '../upload.ts';
import type { NodeVersionRecord } from './records.ts';

/*
 * A signed address can be used again and again while it lasts, and each use is an event. Checking an archive takes a
 * finalizer up to minutes, so how often that happens is bounded by the version's record: one finalizer at a time checks
 * for an upload, and after so many refusals its address is used up.
 */

/** A person who puts a corrected archive to the same address gets these tries; then a publish makes a new address. */
const maxRefusals = 5;

/**
 * The version as it is then; undefined if another finalizer is at it. A finalizer is named by the id that Lambda gives
 * the event and all its retries; one that died holds its claim until its deadline.
 */
export async function claimChecks(
  context: Context,
  upload: Upload,
  finalizer: string,
): Promise<NodeVersionRecord | undefined> {
  const changes = { checked_by: finalizer, checked_until: context.deadline };
  const awaited = awaitsUpload(upload);
  const condition: Condition<NodeVersionRecord> = {
    anyOf: [
      [...awaited, ['checked_until', 'at most', Date.now()]],
      [...awaited, ['checked_by', '=', finalizer]],
    ],
  };
  const claim = await update<NodeVersionRecord>(
    context,
    nodeVersionKey(upload.nodeId, upload.version),
    changes,
    condition,
  );
  return claim.written ? claim.item : undefined;
}

/** After a failure that another event may get past. Where this fails too, the retries of the same event still can. */
export async function releaseChecks(context: Context, upload: Upload, finalizer: string): Promise<void> {
  const key = nodeVersionKey(upload.nodeId, upload.version);
  try {
    await update<NodeVersionRecord>(context, key, unclaimed, [
      ...awaitsUpload(upload),
      ['checked_by', '=', finalizer],
    ]);
  } catch (error) {
    log('warn', 'checks_kept', describeError(error));
  }
}

/** The attributes that are cleared when a check ends. */
export const unclaimed = { checked_by: null, checked_until: null };

/** Whether this object was refused, or the address that it came by is used up. */
export function isRefused(
  { refused_object, refusals = 0 }: NodeVersionRecord,
  objectVersion: string,
): boolean {
  return refused_object === objectVersion || refusals >= maxRefusals;
}

/** The attributes and the reason that a rejection leaves. The reason mentions it if the address takes no more archives. */
export function refusalOf({ refusals = 0 }: NodeVersionRecord, objectVersion: string, reason: string) {
  const count = refusals + 1;
  return {
    status_reason_code: 'archive_refused',
    status_reason: count < maxRefusals ? reason : `${reason} ${usedUp}`,
    refused_object: objectVersion,
    refusals: count,
  } as const;
}

const usedUp = `An upload address accepts ${maxRefusals} archives. Publish again for a new one.`;

export function awaitsUpload({ versionId, uploadId }: Upload): Clause<NodeVersionRecord>[] {
  return [
    ['id', '=', versionId],
    ['status', '=', 'NodeVersionStatusPending'],
    ['upload_id', '=', uploadId],
  ];
}
