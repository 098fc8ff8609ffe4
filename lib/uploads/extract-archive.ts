import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { readTextFiles } from '../archives/text-files.ts';
import { findObject } from '../bucket/bucket.ts';
import { publishedKeyOf } from '../bucket/object-keys.ts';
import * as config from '../config.ts';
import { extractInWorker } from '../../packages/host-nodes/extract-in-worker.ts';
import { note } from '../log.ts';
import {
  type ExtractedArchive,
  type ExtractionState,
  findExtractionState,
  finishExtraction,
  type FoundHostNodes,
  writeHostNodes,
} from '../registry/extraction.ts';
import { entriesOf } from '../registry/host-node-entries.ts';

/** Counted on when an extractor finds something else in the same archive: then it may run again. */
export const extractor = 2;

/**
 * What became of an archive's extraction. `early`: its version did not become active in time; `superseded`: it has
 * another archive by now, or a newer extraction; `missing`: nothing lies under the key; `unfinished`: there was no time to
 * write all of its entries, and the sweep writes the rest.
 */
export type ExtractionResult =
  | 'success'
  | 'failed'
  | 'missing'
  | 'superseded'
  | 'unfinished'
  | Exclude<ExtractionState, 'awaited'>;

/** The finalizer activates a version right after it copies the archive, whose event may arrive earlier. */
const patienceMs = 20_000;
const pauseMs = 100;
const reservedMs = 5_000;

/** Reads the host nodes out of the archive under a key, and writes them. It trusts nothing in the event but the key. */
export async function extractArchive(context: Context, key: string): Promise<ExtractionResult> {
  const archive = publishedKeyOf(key);
  if (!archive) return 'unknown';
  note({ node_id: archive.nodeId, version: archive.version });
  const state = await waitForVersion(context, archive);
  if (state !== 'awaited') return state;
  const found = await readHostNodes(key, archive.nodeId);
  if (!found) return 'missing';
  if (!(await writeHostNodes(context, archive, found))) return 'unfinished';
  return (await finishExtraction(context, archive, found)) ? found.status : 'superseded';
}

async function waitForVersion(context: Context, archive: ExtractedArchive): Promise<ExtractionState> {
  const end = Math.min(Date.now() + patienceMs, context.deadline - reservedMs);
  for (;;) {
    const state = await findExtractionState(context, archive, extractor);
    if (state !== 'early' || Date.now() + pauseMs > end) return state;
    await pause(pauseMs);
  }
}

/** The host nodes and risks of the archive under a key, as they are written. Undefined if there is no archive. */
export async function readHostNodes(key: string, nodeId: string): Promise<FoundHostNodes | undefined> {
  const object = await findObject(key);
  if (!object) return undefined;
  const { nodes, status, reason, steps, risks } = await extractInWorker(await readTextFiles(object), nodeId);
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
    tags: config.extraction().EXTRACTION_TAGS === 'on' ? risks : [],
  };
}
