import { setTimeout as pause } from 'node:timers/promises';
import { readTextFiles } from '../archives/text-files.ts';
import { findObject } from '../bucket/bucket.ts';
import { publishedKeyOf } from '../bucket/object-keys.ts';
import * as concerns from '../concerns.ts';
import { readEnvironment } from '../environment.ts';
import type { ExtractedNode } from '../extraction/describe-node.ts';
import { extractInWorker } from '../extraction/extract-in-worker.ts';
import { note } from '../log.ts';
import {
  type ExtractedArchive,
  type ExtractedFields,
  type ExtractionState,
  findExtractionState,
  finishExtraction,
  type FoundHostNodes,
  writeHostNodes,
} from '../registry/extraction.ts';

/** Counted on when an extractor finds something else in the same archive: then it may run again. */
export const extractor = 1;

/**
 * What became of an archive's extraction. `early`: its version did not become active in time; `superseded`: it has
 * another archive by now, or a newer extraction; `missing`: nothing lies under the key.
 */
export type ExtractionResult =
  | 'success'
  | 'failed'
  | 'missing'
  | 'superseded'
  | Exclude<ExtractionState, 'awaited'>;

/** The finalizer activates a version right after it has copied the archive, whose event may overtake it. */
const patienceMs = 20_000;
const pauseMs = 100;
const reservedMs = 5_000;
const maxNameCharacters = 200;
/** Leaves room in an entry of DynamoDB's, with what an owner may write there. */
const maxFieldBytes = 80_000;

const { EXTRACTION_TAGS } = readEnvironment(concerns.extraction);

/** Reads the host nodes out of the archive under a key, and writes them. It trusts nothing in the event but the key. */
export async function extractArchive(key: string, deadline: number): Promise<ExtractionResult> {
  const archive = publishedKeyOf(key);
  if (!archive) return 'unknown';
  note({ node_id: archive.nodeId, version: archive.version });
  const state = await waitForVersion(archive, deadline);
  if (state !== 'awaited') return state;
  const found = await readHostNodes(key, archive.nodeId);
  if (!found) return 'missing';
  await writeHostNodes(archive, found, deadline);
  return (await finishExtraction(archive, found, deadline)) ? found.status : 'superseded';
}

async function waitForVersion(archive: ExtractedArchive, deadline: number): Promise<ExtractionState> {
  const end = Math.min(Date.now() + patienceMs, deadline - reservedMs);
  for (;;) {
    const state = await findExtractionState(archive, extractor, deadline);
    if (state !== 'early' || Date.now() + pauseMs > end) return state;
    await pause(pauseMs);
  }
}

/** What the archive under a key has, as it is written; undefined where nothing lies there. */
export async function readHostNodes(key: string, nodeId: string): Promise<FoundHostNodes | undefined> {
  const object = await findObject(key);
  if (!object) return undefined;
  const { nodes, status, reason, steps, risks } = await extractInWorker(await readTextFiles(object), nodeId);
  const storable = nodes.filter(({ name }) => name !== '' && name.length <= maxNameCharacters);
  const why =
    storable.length < nodes.length ? `A name has more than ${maxNameCharacters} characters.` : reason;
  const openFields = nodes.reduce((total, { open }) => total + open.length, 0);
  note({
    extractor,
    host_nodes: storable.length,
    open_fields: openFields,
    steps,
    ...(why && { reason: why }),
  });
  return {
    by: extractor,
    status: why === undefined ? status : 'failed',
    reason: why,
    nodes: new Map(storable.map((node) => [node.name, fieldsOf(node)])),
    openFields,
    tags: EXTRACTION_TAGS === 'on' ? risks : [],
  };
}

function fieldsOf(node: ExtractedNode): ExtractedFields {
  return {
    category: stored(node.category),
    deprecated: node.deprecated ?? null,
    description: stored(node.description),
    experimental: node.experimental ?? null,
    function: stored(node.function),
    input_types: stored(node.inputTypes),
    output_is_list: node.outputIsList ?? null,
    return_names: stored(node.returnNames),
    return_types: stored(node.returnTypes),
  };
}

/** Too much for an entry is as good as unknown. */
function stored(text: string | undefined): string | null {
  return text === undefined || Buffer.byteLength(text) > maxFieldBytes ? null : text;
}
