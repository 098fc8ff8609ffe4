import { extractInWorker } from '@node-registry/host-nodes/in-worker';
import { entriesOf } from '@node-registry/registry-rules/host-node-entries';
import { readTextFiles } from '../archives/text-files.ts';
import { findObject } from '../bucket/bucket.ts';
import type { Context } from '../context.ts';
import { log, note } from '../log.ts';
import {
  extractor,
  finishExtraction,
  type FoundHostNodes,
  unended,
  writeHostNodes,
} from '../registry/extraction.ts';
import type { NodeVersionRecord } from '../registry/records.ts';
import { lanes } from '../work/lanes.ts';
import { type Outcome, worker } from '../work/worker.ts';

/** Reads the host nodes from a published archive, and writes them. One archive takes the function's memory. */
export const extractHostNodes = worker<NodeVersionRecord>('extract', {
  handle: extract,
  // The pack may be fine, so a publish starts it again.
  giveUp: (context, version, givenUp) => {
    const tries = lanes.extract.waitSeconds.length + 1;
    const reason = unended(tries, 'It is not tried again by itself');
    const found = {
      by: extractor,
      status: 'failed',
      reason,
      nodes: new Map(),
      openFields: 0,
      tags: [],
    } as const;
    return finishExtraction(context, version, found, givenUp);
  },
});

/**
 * The result of an extraction. `superseded`: the version now has a newer extraction; `missing`: the object doesn't
 * exist; `interrupted`: it ran out of time or memory, although the pack may be fine; `unfinished`: there was no time to
 * write all of its entries, and another try writes the rest.
 */
type ExtractionResult = FoundHostNodes['status'] | 'missing' | 'superseded' | 'interrupted' | 'unfinished';

async function extract(context: Context, version: NodeVersionRecord): Promise<Outcome> {
  note({ node_id: version.node_id, version: version.version, key: version.archive_key });
  const started = performance.now();
  const outcome = await extractArchive(context, version);
  log('info', 'extraction', { outcome, ms: Math.round(performance.now() - started) });
  if (outcome === 'unfinished') return 'more';
  if (outcome === 'missing') return { again: { last_error: 'The bucket has no such archive.' } };
  if (outcome === 'interrupted')
    return { again: { host_node_extract_reason: unended(version.tries ?? 1, 'It is tried again') } };
  return 'done';
}

async function extractArchive(context: Context, version: NodeVersionRecord): Promise<ExtractionResult> {
  const found = await readHostNodes(version);
  if (found === 'missing' || found === 'interrupted') return found;
  if (!(await writeHostNodes(context, version, found))) return 'unfinished';
  return (await finishExtraction(context, version, found)) ? found.status : 'superseded';
}

/** The host nodes and risks of an archive, in the stored form. */
async function readHostNodes({
  archive_key = '',
  node_id,
}: Pick<NodeVersionRecord, 'archive_key' | 'node_id'>): Promise<FoundHostNodes | 'missing' | 'interrupted'> {
  const object = await findObject(archive_key);
  if (!object) return 'missing';
  const extraction = await extractInWorker(await readTextFiles(object), node_id);
  if (extraction.status === 'interrupted') {
    note({ extractor, reason: extraction.reason });
    return 'interrupted';
  }
  const { nodes, status, reason, steps, risks } = extraction;
  const { entries, problem } = entriesOf(nodes);
  const why = problem ?? reason;
  const openFields = nodes.reduce((total, { open }) => total + open.length, 0);
  note({
    extractor,
    host_nodes: entries.size,
    open_fields: openFields,
    steps,
    ...(why && { reason: why }),
  });
  return {
    by: extractor,
    status: why === undefined ? status : 'failed',
    reason: why,
    nodes: entries,
    openFields,
    tags: risks,
  };
}
