import { isDeepStrictEqual } from 'node:util';
import type { restoreVersion, withdrawVersion } from '../../../lib/registry/edit-version.ts';
import { may } from '../../../lib/registry/may.ts';
import type { NodeVersionRecord, Operator } from '../../../lib/registry/records.ts';
import { type Changes, withChanges } from '../../../lib/store/items.ts';
import { showNodeVersion } from '../listing.ts';
import { type Changed, changeVersion } from '../../../lib/registry/changes.ts';
import { newContext } from './administration.ts';

export function flagNodeVersion(
  actor: Operator,
  nodeId: string,
  version: string,
  reason: string,
): Promise<Changed<NodeVersionRecord>> {
  const entry = { action: 'node-version flag', detail: reason };
  return changeVersion(newContext(), actor, { nodeId, version, entry }, (current) => {
    may(actor, 'flag or unflag version', { version: current, verb: 'flagged' });
    if (current.status === 'NodeVersionStatusFlagged' && current.status_reason === reason) return undefined;
    return { status: 'NodeVersionStatusFlagged', status_reason: reason, status_reason_code: 'flagged' };
  });
}

export function unflagNodeVersion(
  actor: Operator,
  nodeId: string,
  version: string,
): Promise<Changed<NodeVersionRecord>> {
  const entry = { action: 'node-version unflag' };
  return changeVersion(newContext(), actor, { nodeId, version, entry }, (current) => {
    may(actor, 'flag or unflag version', { version: current, verb: 'unflagged' });
    if (current.status !== 'NodeVersionStatusFlagged') return undefined;
    return { status: 'NodeVersionStatusActive', status_reason: null, status_reason_code: null };
  });
}

/** Changes the fields of a published version that a publisher may still edit; undefined keeps a field. */
export function editNodeVersion(
  actor: Operator,
  nodeId: string,
  version: string,
  entry: { action: string; detail?: string },
  fields: Pick<Changes<NodeVersionRecord>, 'deprecated' | 'changelog'>,
): Promise<Changed<NodeVersionRecord>> {
  return changeVersion(newContext(), actor, { nodeId, version, entry }, (current) => {
    may(actor, 'edit any version', { version: current, verb: 'edited' });
    return isDeepStrictEqual(withChanges(current, fields), current) ? undefined : fields;
  });
}

/** Withdraws a published version or drops a pending one, or restores a withdrawn one. */
export async function changeWithdrawal(
  change: typeof withdrawVersion | typeof restoreVersion,
  actor: Operator,
  nodeId: string,
  version: string,
  reason?: string,
): ReturnType<typeof withdrawVersion> {
  const { publisher_id: publisherId, id: versionId } = await showNodeVersion(nodeId, version);
  return change(newContext(), { publisherId, nodeId, versionId, by: actor, reason });
}
