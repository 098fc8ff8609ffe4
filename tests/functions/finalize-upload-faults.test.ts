import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { handler as publishHandler } from '../../functions/publish-node-version.ts';
import { uploadOf } from '../../lib/bucket/object-keys.ts';
import type { Upload } from '../../lib/upload.ts';
import { sweepUploads } from '../../lib/uploads/sweep-uploads.ts';
import { demo } from '../../tools/local/demo.ts';
import { seed } from '../../tools/local/seed.ts';
import {
  injectFaults,
  isLostConnection,
  overTheWire,
  planOf,
  revive,
  underPlan,
} from '../support/wire-faults.ts';
import { invoke } from '../support/invoke.ts';
import { storedNode } from '../support/registry.ts';
import { download, finalizeAs, sha256, storedVersion } from '../support/uploads.ts';
import { zip } from '../support/zip.ts';

const version = '1.0.0';
const maxAttempts = 5;

/** Lambda retries an asynchronous event twice. */
const maxInvocations = 3;

/** More calls than a run makes; a run with more would have an endless loop. */
const maxCalls = 40;

const kinds = ['drop before', 'drop after', 'die'] as const;
const fates = ['prompt', 'late', 'doubled', 'doubled late', 'lost'] as const;
type Fate = (typeof fates)[number];

let faults: Awaited<ReturnType<typeof injectFaults>>;

beforeAll(async () => {
  await seed();
  faults = await injectFaults();
});

afterAll(() => faults.stop());

test('finalizeUpload publishes or rejects every version exactly once after any failed call, and leaves none stuck', async () => {
  const began = Date.now();
  const runs = (
    await Promise.all(kinds.flatMap((kind) => [false, true].map((isBad) => failEachCall(kind, isBad))))
  ).flat();
  await sweepUploads({ deadline: Date.now() + 60_000 }, { from: began, to: Date.now() + 1000 });
  const counts: Record<string, number> = { runs: runs.length };
  for (const run of runs) {
    const result = await resultOf(run);
    counts[result] = (counts[result] ?? 0) + 1;
    counts[`event ${run.fate}`] = (counts[`event ${run.fate}`] ?? 0) + 1;
  }

  console.info(counts);
  expect(counts.published).toBeGreaterThan(kinds.length * 10);
  expect(counts.rejected).toBeGreaterThan(kinds.length * 8);
  expect((counts.published ?? 0) + (counts.rejected ?? 0)).toBe(runs.length);
}, 120_000);

interface Run {
  nodeId: string;
  archive: Buffer;
  isBad: boolean;
  fate: Fate;
}

/** One run for each call that a run makes. That call fails in this way; the last run needs no further call. */
async function failEachCall(kind: (typeof kinds)[number], isBad: boolean): Promise<Run[]> {
  const runs: Run[] = [];
  for (let at = 1; at <= maxCalls; at += 1) {
    const nodeId = `faults-${kind.replace(' ', '-')}-${isBad ? 'bad' : 'good'}-${at}`;
    const archive = isBad ? Buffer.from(`no zip ${nodeId}`) : zip([{ name: 'node.py', data: nodeId }]);
    // Each kind begins at a different fate, so that a call fails under more than one of them.
    const fate = fates[(at + kinds.indexOf(kind) * 2) % fates.length] ?? 'prompt';
    const run = { nodeId, archive, isBad, fate };
    runs.push(run);
    const plan = planOf([{ at, kind, lasts: true }]);
    await underPlan(plan, async () => {
      for (const upload of await publishAndUpload(run)) await deliver(upload);
    });
    if (plan.struck.length === 0 && fate !== 'lost') return runs;
  }
  throw new Error(`A run made more than ${maxCalls} calls.`);
}

async function resultOf({ nodeId, archive, isBad }: Run): Promise<'published' | 'rejected'> {
  const stored = await storedVersion(nodeId, version);
  if (isBad) {
    expect([nodeId, stored]).toEqual([
      nodeId,
      expect.objectContaining({ status: 'NodeVersionStatusPending' }),
    ]);
    expect([nodeId, stored.status_reason]).toEqual([nodeId, expect.stringContaining('it is not a zip file')]);
    return 'rejected';
  }
  const published = {
    status: 'NodeVersionStatusActive',
    sha256: sha256(archive),
    size_bytes: archive.length,
  };
  expect([nodeId, stored]).toEqual([nodeId, expect.objectContaining(published)]);
  expect([nodeId, stored.pending_shard]).toEqual([nodeId, expect.stringMatching(/^extract-/)]);
  expect(await download(stored.downloadUrl)).toEqual(archive);
  expect((await storedNode(nodeId))?.latest_version).toMatchObject({ id: stored.id, sha256: stored.sha256 });
  return 'published';
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
    const upload = uploadOf(decodeURIComponent(url.pathname).replace(/^\/[^/]+\//, ''));
    if (!upload) throw new Error(`The signed URL ${url} is of no upload.`);
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

async function sendEvent(upload: Upload, fate: Fate): Promise<Upload[]> {
  if (fate === 'prompt') await deliver(upload);
  if (fate === 'doubled') await Promise.all([deliver(upload), deliver(upload)]);
  if (fate === 'late') return [upload];
  return fate === 'doubled late' ? [upload, upload] : [];
}

async function deliver(upload: Upload): Promise<void> {
  const id = randomUUID();
  for (let invocation = 1; invocation <= maxInvocations; invocation += 1) {
    revive();
    const isDone = await finalizeAs(id, upload).then(
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
