import { publishedKeyOf } from '../bucket/object-keys.ts';
import type { Context } from '../context.ts';
import { unlistExtracted } from '../registry/extraction.ts';
import { type ListedVersion, readListedVersions } from '../registry/pending-versions.ts';
import { type Period, type Sweep, sweepDue, type SweepReport } from '../store/due.ts';
import { type ExtractionResult, extractArchive } from './extract-archive.ts';

/** For reading one archive. Writing what it has can take longer, and ends in time by itself. */
const reservedMs = 20_000;

/** Extracts the host nodes of versions whose events were lost, newest first. */
export function sweepExtractions(
  context: Context,
  period: Period,
  onVisited?: Sweep<ListedVersion, ExtractionResult>['onVisited'],
): Promise<SweepReport> {
  return sweepDue<ListedVersion, ExtractionResult>(context, {
    work: 'host-nodes',
    period,
    order: 'newest first',
    // Each takes the memory of the function.
    visitsAtOnce: 1,
    hasTime: () => Date.now() < context.deadline - reservedMs,
    read: (keys) => readListedVersions(context, keys),
    visit: async ({ archiveKey = '' }) => {
      const result = await extractArchive(context, archiveKey);
      const archive = publishedKeyOf(archiveKey);
      if (result === 'extracted_before' && archive) await unlistExtracted(context, archive);
      return result;
    },
    unexpected: ['success', 'failed', 'unfinished'],
    nameOf: ({ nodeId, version }) => ({ node_id: nodeId, version }),
    onVisited,
  });
}
