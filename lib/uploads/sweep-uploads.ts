import { stagingKey } from '../bucket/object-keys.ts';
import { settleVersion } from '../registry/finalizing.ts';
import { findListedVersions, type ListedVersion } from '../registry/pending-versions.ts';
import { finalizeUpload, type Outcome } from './finalize-upload.ts';

/** As for an upload, or: `settled`, only the node's latest_version was left to do; `unvisited`, time ran out. */
type Finding = Outcome | 'settled' | 'waiting' | 'abandoned' | 'failed' | 'unvisited';

interface Visit {
  finding: Finding;
  /** Why it failed. */
  error?: unknown;
}

export type Swept = ListedVersion & Visit;

interface Sweep {
  /** Looks at the versions whose latest publish lies between these times, in milliseconds. */
  from: number;
  to: number;
  deadline: number;
}

/** A signed URL takes uploads for fifteen minutes, and a large one may need as long again to arrive. */
const patienceMs = 30 * 60 * 1000;

/**
 * Finds what lost events have left behind and takes it to its end. One version that fails does not stop the
 * others. Everything it does may be done by events at the same time.
 */
export async function sweepUploads({ from, to, deadline }: Sweep): Promise<Swept[]> {
  const listed = await findListedVersions(timestamp(from), timestamp(to), deadline);
  const swept: Swept[] = [];
  for (const version of listed) {
    const isInTime = Date.now() < deadline;
    const result: Visit = isInTime ? await visit(version, deadline) : { finding: 'unvisited' };
    swept.push({ ...version, ...result });
  }
  return swept;
}

async function visit(version: ListedVersion, deadline: number): Promise<Visit> {
  try {
    if (version.awaits === undefined) {
      await settleVersion(version.nodeId, version.version, deadline);
      return { finding: 'settled' };
    }
    const outcome = await finalizeUpload(stagingKey({ ...version, uploadId: version.awaits }), deadline);
    if (outcome !== 'missing') return { finding: outcome };
    return { finding: Date.parse(version.since) + patienceMs < Date.now() ? 'abandoned' : 'waiting' };
  } catch (error) {
    return { finding: 'failed', error };
  }
}

function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
