import { publishedKeyOf } from '../bucket/object-keys.ts';
import { foldNodeId } from 'registry-rules/names';

/** Downloads by node (folded id), UTC day and version. */
export type Counts = Map<string, Map<string, Map<string, number>>>;

/** What calls itself one of these is no person, and no person's program. */
const crawlers = /bot\b|bot\/|crawl|spider|slurp/i;

/**
 * Counts the downloads in a standard log of the distribution: each GET of an archive with the status 200 or 206 that began
 * at its first byte. So a resumed download is one, and so is one that broke off. The log's own line names the fields.
 */
export function countDownloads(text: string, counts: Counts = new Map()): Counts {
  let fields: string[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('#Fields:')) fields = line.slice('#Fields:'.length).trim().split(/\s+/);
    if (line.startsWith('#') || line === '') continue;
    const values = line.split('\t');
    const field = (name: string) => values[fields.indexOf(name)] ?? '-';
    if (field('cs-method') !== 'GET' || !['200', '206'].includes(field('sc-status'))) continue;
    if (!['-', '0'].includes(field('sc-range-start')) || crawlers.test(field('cs(User-Agent)'))) continue;
    const day = field('date');
    const archive = archiveAt(field('cs-uri-stem'));
    if (archive && /^\d{4}-\d\d-\d\d$/.test(day))
      addDownloads(counts, [foldNodeId(archive.nodeId), day, archive.version], 1);
  }
  return counts;
}

export function addDownloads(
  counts: Counts,
  [nodeId, day, version]: [nodeId: string, day: string, version: string],
  amount: number,
): void {
  const days = counts.get(nodeId) ?? new Map<string, Map<string, number>>();
  const versions = days.get(day) ?? new Map<string, number>();
  counts.set(nodeId, days.set(day, versions.set(version, (versions.get(version) ?? 0) + amount)));
}

function archiveAt(stem: string) {
  try {
    return publishedKeyOf(decodeURIComponent(stem.slice(1)));
  } catch {
    // A stranger may ask for a path with any bytes.
    return undefined;
  }
}
