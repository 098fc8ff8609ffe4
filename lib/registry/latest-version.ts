import type { NodeVersionStatus } from '../schemas/node-version.ts';
import { compareVersions, isPreRelease } from '../schemas/version-label.ts';
import type { ShownVersion } from './records.ts';

/** Flagged is a warning: such a version can still be downloaded, and stays the latest if it was. */
const downloadable: readonly NodeVersionStatus[] = ['NodeVersionStatusActive', 'NodeVersionStatusFlagged'];

export function isDownloadable({ status }: ShownVersion): boolean {
  return downloadable.includes(status);
}

/** The version that a node shows as its latest: of those that can be downloaded, the highest. */
export function latestOf<Version extends ShownVersion>(versions: readonly Version[]): Version | undefined {
  return versions.filter(isDownloadable).sort((a, b) => compareForLatest(b, a))[0];
}

/** Positive where `a` comes before `b` as the latest: stable before pre-release, then precedence, then time. */
function compareForLatest(a: ShownVersion, b: ShownVersion): number {
  return (
    Number(isPreRelease(b.version)) - Number(isPreRelease(a.version)) ||
    compareVersions(a.version, b.version) ||
    (a.published_at ?? '').localeCompare(b.published_at ?? '')
  );
}
