import type { Period } from './sweep-period.ts';
import type { Context } from '../context.ts';
import { publishedKeyOf } from '../bucket/object-keys.ts';
import { findListedVersions } from '../registry/pending-versions.ts';
import { unlistExtracted } from '../registry/extraction.ts';
import { type ExtractionResult, extractArchive } from './extract-archive.ts';

/** As for an event, or: `unvisited`, time ran out. */
export interface SweptExtraction {
  nodeId: string;
  version: string;
  finding: ExtractionResult | 'error' | 'unvisited';
  /** Why there was an error. */
  error?: unknown;
}

/** For reading one archive. Writing what it has can take longer, and ends in time by itself. */
const reservedMs = 20_000;

/**
 * Extracts the host nodes of versions whose events were lost, the newest first, and one after the other, since each
 * takes the memory of the function. One that fails does not stop the others.
 */
export async function sweepExtractions(context: Context, { from, to }: Period): Promise<SweptExtraction[]> {
  const times = [new Date(from).toISOString(), new Date(to).toISOString()] as const;
  const swept: SweptExtraction[] = [];
  for (const { nodeId, version, archiveKey } of await findListedVersions(context, 'extraction', ...times)) {
    const isInTime = Date.now() < context.deadline - reservedMs;
    const visited: Pick<SweptExtraction, 'finding' | 'error'> = isInTime
      ? await visit(context, archiveKey ?? '').catch((error: unknown) => ({ finding: 'error', error }))
      : { finding: 'unvisited' };
    swept.push({ nodeId, version, ...visited });
  }
  return swept;
}

async function visit(context: Context, key: string): Promise<{ finding: ExtractionResult }> {
  const finding = await extractArchive(context, key);
  const archive = publishedKeyOf(key);
  if (finding === 'extracted_before' && archive) await unlistExtracted(context, archive);
  return { finding };
}
