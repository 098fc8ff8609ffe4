import { isDeepStrictEqual } from 'node:util';
import type { NodeVersionRecord } from '../../../lib/registry/records.ts';
import { type Changes, withChanges } from '../../../lib/store/items.ts';
import { type Changed, changeStatus, Rejection } from './administration.ts';

export function flagNodeVersion(
  nodeId: string,
  version: string,
  reason: string,
): Promise<Changed<NodeVersionRecord>> {
  return changeStatus(nodeId, version, { action: 'node-version flag', detail: reason }, (current) => {
    requirePublished(current, 'flagged');
    if (current.status === 'NodeVersionStatusFlagged' && current.status_reason === reason) return undefined;
    return { status: 'NodeVersionStatusFlagged', status_reason: reason, status_reason_code: 'flagged' };
  });
}

export function unflagNodeVersion(nodeId: string, version: string): Promise<Changed<NodeVersionRecord>> {
  return changeStatus(nodeId, version, { action: 'node-version unflag' }, (current) => {
    requirePublished(current, 'unflagged');
    if (current.status !== 'NodeVersionStatusFlagged') return undefined;
    return { status: 'NodeVersionStatusActive', status_reason: null, status_reason_code: null };
  });
}

/** Changes the fields of a published version that a publisher may still edit; undefined keeps a field. */
export function editNodeVersion(
  nodeId: string,
  version: string,
  change: { action: string; detail?: string },
  fields: Pick<Changes<NodeVersionRecord>, 'deprecated' | 'changelog'>,
): Promise<Changed<NodeVersionRecord>> {
  return changeStatus(nodeId, version, change, (current) => {
    requirePublished(current, 'edited');
    return isDeepStrictEqual(withChanges(current, fields), current) ? undefined : fields;
  });
}

function requirePublished({ status, node_id, version }: NodeVersionRecord, verb: string): void {
  if (status === 'NodeVersionStatusActive' || status === 'NodeVersionStatusFlagged') return;
  const state = status.replace('NodeVersionStatus', '').toLowerCase();
  throw new Rejection(
    `Version ${version} of "${node_id}" is ${state}; only active and flagged ones can be ${verb}.`,
  );
}
