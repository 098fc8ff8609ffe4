import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler as publishHandler } from '../../functions/publish-node-version.ts';
import { archiveKey, type Upload } from '../../lib/bucket/object-keys.ts';
import { fromAttributes } from '../../lib/store/items.ts';
import { extractArchive } from '../../lib/uploads/extract-archive.ts';
import { sweepUploads } from '../../lib/uploads/upload-events.ts';
import { demo } from '../../tools/local/demo.ts';
import { seed } from '../../tools/local/seed.ts';
import { runsOf } from '@node-registry/testing/property-runs';
import { invoke } from '../support/invoke.ts';
import { readTable } from '../support/table-image.ts';
import { download, finalizeAs, sha256, storedVersion, uploadAt } from '../support/uploads.ts';
import { isLostConnection, overTheWire, planOf, revive, underPlan } from '../support/wire-faults.ts';
import { zip } from '@node-registry/testing/zip';

/*
 * A publish from its request to its host nodes, in which one call to a store is lost, loses its answer, or is the last one
 * of its process. Its client and Lambda try again, a sweep runs, and then every record must be as without the fault.
 */

const version = '1.0.0';
const maxAttempts = 5;
/** Lambda retries an asynchronous event twice, and the queue a message. */
const maxInvocations = 3;
/** More calls than a run makes; a run with more would have an endless loop. */
const maxCalls = 60;

/** In the gate, a call that is lost before it arrives is the last one of its invocation. */
const kinds = (['drop after', 'die', 'drop before'] as const).slice(0, runsOf(1) >= 100 ? 3 : 2);
const fates = ['prompt', 'late', 'doubled', 'doubled late', 'lost'] as const;

const archives = {
  good: zip([
    {
      name: '__init__.py',
      data: 'class One:\n    FUNCTION = "run"\n    CATEGORY = "ours"\n\nNODE_CLASS_MAPPINGS = {"One": One, "Two": One}\n',
    },
  ]),
  bad: Buffer.from('This is not a zip, and long enough to be read.'),
};

/** The part of a publish in which the call is lost, and how many calls it makes at least. */
const parts = [
  { part: 'publishing', quality: 'good', calls: 18 },
  { part: 'publishing', quality: 'bad', calls: 12 },
  { part: 'extraction', quality: 'good', calls: 6 },
] as const;
type Part = (typeof parts)[number];

interface Run {
  nodeId: string;
  archive: Buffer;
  fate: (typeof fates)[number];
  isStruck: boolean;
}

beforeAll(seed);

describe.each(kinds)('a call of the kind "%s"', (kind) => {
  test.each(parts)(
    'leaves every record of a publish as without it: $part of a $quality archive',
    async (part) => {
      const began = Date.now();
      const runs = await failEachCall(kind, part);
      await sweepUploads({ deadline: Date.now() + 60_000 }, { from: began, to: Date.now() + 1000 });
      const records = await recordsOf(runs);
      const [expected] = runs.filter(({ isStruck }) => !isStruck).map(({ nodeId }) => records.get(nodeId));

      expect(runs.filter(({ isStruck }) => isStruck).length).toBeGreaterThanOrEqual(part.calls);
      expect(expected).toMatchObject(ending(part));
      for (const { nodeId, fate } of runs)
        expect([nodeId, fate, records.get(nodeId)]).toEqual([nodeId, fate, expected]);
      if (part.quality === 'bad') return;
      const stored = await Promise.all(runs.map(({ nodeId }) => storedVersion(nodeId, version)));
      for (const { downloadUrl } of stored) expect(await download(downloadUrl)).toEqual(archives.good);
    },
  );
});

/** Parts of the records of a run without a fault. */
function ending({ part, quality }: Part) {
  const rejected = {
    'NODE#<id> VERSION#1.0.0': {
      status: 'NodeVersionStatusPending',
      status_reason_code: 'archive_rejected',
      rejected_objects: ['<object>'],
    },
    'PENDING#demo NODE#<id>#VERSION#1.0.0': {},
  };
  if (quality === 'bad') return rejected;
  const active = { status: 'NodeVersionStatusActive', sha256: sha256(archives.good) };
  const node = { latest_version: active };
  if (part === 'publishing')
    return {
      'NODE#<id> NODE': node,
      'NODE#<id> VERSION#1.0.0': { ...active, pending_shard: 'extract-<digit>' },
    };
  return {
    'NODE#<id> NODE': node,
    'NODE#<id> VERSION#1.0.0': { ...active, host_node_extract_status: 'success', extraction: { nodes: 2 } },
    'NODE#<id>#1.0.0 HOST_NODE#One': { category: 'ours' },
    'NODE#<id>#1.0.0 HOST_NODE#Two': { category: 'ours' },
  };
}

/** One run for each call that a part makes. That call fails in this way; the last run needs no further call. */
async function failEachCall(kind: (typeof kinds)[number], { part, quality }: Part): Promise<Run[]> {
  const runs: Run[] = [];
  for (let at = 1; at <= maxCalls; at += 1) {
    // Without a separator and of one length, so that no id begins another one's.
    const nodeId = `lost${kind.replace(' ', '')}${part}${quality}${String(at).padStart(2, '0')}`;
    // Each kind begins at a different fate, so that a call fails under more than one of them.
    const fate =
      part === 'publishing' ? fates[(at + kinds.indexOf(kind) * 2) % fates.length] : ('prompt' as const);
    const run: Run = { nodeId, archive: archives[quality], fate: fate ?? 'prompt', isStruck: true };
    runs.push(run);
    const plan = planOf([{ at, kind, lasts: true }]);
    await underPlan(part === 'publishing' ? plan : planOf([]), async () => {
      for (const upload of await publishAndUpload(run)) await deliver(upload);
    });
    if (part === 'extraction') await underPlan(plan, () => extract(nodeId));
    run.isStruck = plan.struck.length > 0;
    if (!run.isStruck && fate !== 'lost') return runs;
  }
  throw new Error(`A run made more than ${maxCalls} calls.`);
}

/** A client that starts again after any failure. Returns the uploads whose events have not been delivered yet. */
async function publishAndUpload({ nodeId, archive, fate }: Run): Promise<Upload[]> {
  const late: Upload[] = [];
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    revive();
    const answer = await invoke(publishHandler, 'publish-node-version', {
      path: { publisherId: demo.publisherId, nodeId },
      body: {
        node: {},
        node_version: { version },
        personal_access_token: demo.personalAccessToken,
      },
    });
    if (answer.body.error === 'version_exists') return late;
    if (answer.status !== 201) continue;
    const url = new URL(answer.body.signedUrl);
    const upload = uploadAt(url.href);
    const arrived = await overTheWire(async () => {
      const headers = { 'content-type': 'application/zip' };
      const { status } = await fetch(url, { method: 'PUT', body: new Uint8Array(archive), headers });
      expect(status).toBe(200);
      late.push(...(await sendEvent(upload, fate)));
    }).then(() => true, onlyLostConnection);
    if (arrived) return late;
  }
  throw new Error(`"${nodeId}" was not uploaded in ${maxAttempts} attempts.`);
}

async function sendEvent(upload: Upload, fate: Run['fate']): Promise<Upload[]> {
  if (fate === 'prompt') await deliver(upload);
  if (fate === 'doubled') await Promise.all([deliver(upload), deliver(upload)]);
  if (fate === 'late') return [upload];
  return fate === 'doubled late' ? [upload, upload] : [];
}

async function deliver(upload: Upload): Promise<void> {
  const id = randomUUID();
  await invoked(() => finalizeAs(id, upload));
}

/** The message of an archive that was copied, until one of its invocations succeeds. */
async function extract(nodeId: string): Promise<void> {
  const { id, sha256: digest } = await underPlan(planOf([]), () => storedVersion(nodeId, version));
  const key = archiveKey({ nodeId, version, versionId: String(id), uploadId: '' }, String(digest));
  await invoked(() => extractArchive({ deadline: Date.now() + 20_000 }, key));
}

async function invoked(work: () => Promise<unknown>): Promise<void> {
  for (let invocation = 1; invocation <= maxInvocations; invocation += 1) {
    revive();
    const isDone = await work().then(
      () => true,
      () => false,
    );
    if (isDone) return;
  }
}

function onlyLostConnection(error: unknown): false {
  if (isLostConnection(error)) return false;
  throw error;
}

/** Every record of each run by its key. Names and times that differ from run to run are replaced. */
async function recordsOf(runs: readonly Run[]): Promise<Map<string, Record<string, unknown>>> {
  const records = new Map(runs.map(({ nodeId }) => [nodeId, {} as Record<string, unknown>]));
  for (const [key, item] of await readTable()) {
    const nodeId = runs.find((run) => key.includes(run.nodeId))?.nodeId;
    if (nodeId === undefined) continue;
    // A retried write counts a revision more, and a client that tries again publishes with the same token.
    const { revision: _, write_id: __, ...stored } = fromAttributes(item);
    const text = JSON.stringify(stored, (_key, value) => (value instanceof Map ? [...value] : value));
    const shown = text
      .replaceAll(nodeId, '<id>')
      .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replace(/("rejected_objects":\[")[^"]+/, '$1<object>')
      .replace(/("pending_shard":"(?:extract-)?)[0-9a-f]"/, '$1<digit>"');
    Object.assign(records.get(nodeId) ?? {}, { [key.replace(nodeId, '<id>')]: JSON.parse(shown) });
  }
  return records;
}
