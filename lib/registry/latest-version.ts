import { compareVersions, isPreRelease } from '../schemas/version-label.ts';
import type { Item } from '../store/attribute-values.ts';

/** Flagged is a warning: such a version can still be downloaded, and stays the latest if it was. */
const downloadable: readonly unknown[] = ['NodeVersionStatusActive', 'NodeVersionStatusFlagged'];

/** The version that a node shows as its latest: of those that can be downloaded, the highest. */
export function latestOf(versions: readonly Item[]): Item | undefined {
  return versions
    .filter(({ status }) => downloadable.includes(status))
    .sort((a, b) => compareForLatest(String(b.version), String(a.version)))[0];
}

/** Positive where `a` is rather shown as the latest than `b`: stable before pre-release, then by precedence. */
function compareForLatest(a: string, b: string): number {
  return Number(isPreRelease(b)) - Number(isPreRelease(a)) || compareVersions(a, b);
}
