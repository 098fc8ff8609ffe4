import { may } from '../../../lib/registry/may.ts';
import type { Changed, NodeVersionRecord, Operator } from '../../../lib/registry/records.ts';
import { changeVersion } from '../../../lib/registry/changes.ts';
import { newContext, Rejection } from './administration.ts';
import { extractor } from '../../../lib/registry/extraction.ts';
import { isOffered } from '../../../lib/registry/node-versions.ts';
import { owe } from '../../../lib/work/lanes.ts';

const flagged = 'NodeVersionStatusFlagged';

/** Adds a warning. Without a reason, removes it. */
export function setFlag(
  actor: Operator,
  nodeId: string,
  version: string,
  reason: string | undefined,
): Promise<Changed<NodeVersionRecord>> {
  const verb = reason === undefined ? 'unflag' : 'flag';
  const entry = { action: `node-version ${verb}`, ...(reason !== undefined && { detail: reason }) };
  return changeVersion(newContext(), actor, { nodeId, version, entry }, (current) => {
    may(actor, 'flag or unflag version', { version: current, verb: `${verb}ged` });
    const { status, status_reason } = current;
    if (reason === undefined)
      return status === flagged
        ? { status: 'NodeVersionStatusActive', status_reason: null, status_reason_code: null }
        : undefined;
    if (status === flagged && status_reason === reason) return undefined;
    return { status: flagged, status_reason: reason, status_reason_code: 'flagged' };
  });
}

/** Has the lane `extract` read the archive of a version again, for a newer extractor or if that was given up. */
export function readAgain(
  actor: Operator,
  nodeId: string,
  version: string,
): Promise<Changed<NodeVersionRecord>> {
  const entry = { action: 'node-version extract' };
  return changeVersion(newContext(), actor, { nodeId, version, entry }, (current) => {
    const { extraction, host_node_extract_status: status } = current;
    const what = `Version ${current.version} of "${current.node_id}"`;
    if (!isOffered(current)) throw new Rejection(`${what} is not published.`);
    const by = extraction?.by ?? 0;
    if (by >= extractor && status !== 'failed')
      throw new Rejection(
        `${what} is not read again: extractor ${by} has read it, and the current one is ${extractor}.`,
      );
    return {
      host_node_extract_status: 'pending',
      host_node_extract_reason: null,
      ...(by >= extractor && { extraction: null }),
      ...owe('extract', current, current.publisher_id, Date.now()),
    };
  });
}
