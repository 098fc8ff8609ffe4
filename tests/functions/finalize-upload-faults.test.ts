import { beforeAll, expect, test } from '@jest/globals';
import { handler as publishHandler } from '../../functions/publish-node-version.ts';
import { uploadOf } from '../../lib/bucket/object-keys.ts';
import type { Upload } from '../../lib/upload.ts';
import { sweepUploads } from '../../lib/uploads/sweep-uploads.ts';
import { demo } from '../../tools/local/demo.ts';
import { seed } from '../../tools/local/seed.ts';
import { SeededRandom } from '../../tools/prove/seeded-random.ts';
import { LostConnection, overTheWire, revive, withFault } from '../support/faults.ts';
import { invoke } from '../support/invoke.ts';
import { storedNode } from '../support/registry.ts';
import { download, finalize, sha256, storedVersion } from '../support/uploads.ts';
import { zip } from '../support/zip.ts';

const runs = 1000;
const version = '1.0.0';
const maxAttempts = 5;

/** Lambda runs an asynchronous event again, twice. */
const maxInvocations = 3;

/** The most calls that one run makes without a fault, so that every step of it is struck. */
const lastCall = 14;

/** Stories told at once: much of a story is waiting to try again. */
const tellers = 4;

beforeAll(async () => {
  await seed();
});

test('whatever fails, a version ends published once or cleanly refused, and is never stuck', async () => {
  const counts: Record<string, number> = { struck: 0 };
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const began = Date.now();
  const stories: Promise<Story>[] = [];
  const tell = async () => {
    while (stories.length < runs) {
      const story = tellStory(stories.length + 1, count);
      stories.push(story);
      await story;
    }
  };
  await Promise.all(Array.from({ length: tellers }, tell));
  await sweepUploads({ from: began, to: Date.now() + 1000, deadline: Date.now() + 60_000 });
  for (const story of stories) count(await endingOf(await story));

  console.info(`${runs} runs`, counts);
  expect(counts.published).toBeGreaterThan(runs / 2);
  expect(counts.refused).toBeGreaterThan(runs / 20);
  expect((counts.published ?? 0) + (counts.refused ?? 0)).toBe(runs);
}, 300_000);

interface Story {
  nodeId: string;
  archive: Buffer;
  isBad: boolean;
}

/** One version up to where its publisher and its events leave it, with one fault on the way. */
async function tellStory(run: number, count: (what: string) => void): Promise<Story> {
  const random = new SeededRandom(run);
  const nodeId = `faults-${run}`;
  const isBad = random.below(8) === 0;
  const archive = isBad ? Buffer.from(`no zip ${run}`) : zip([{ name: 'node.py', data: `print(${run})` }]);
  const fault = { at: 1 + random.below(lastCall), kind: random.pick(['before', 'after', 'kill'] as const) };
  const struck = await withFault(fault, async () => {
    const late = await publishAndUpload(nodeId, archive, random, count);
    for (const upload of random.shuffled(late)) await deliver(upload);
  });
  if (struck) count('struck');
  return { nodeId, archive, isBad };
}

async function endingOf({ nodeId, archive, isBad }: Story): Promise<'published' | 'refused'> {
  const stored = await storedVersion(nodeId, version);
  if (isBad) {
    expect([nodeId, stored]).toEqual([
      nodeId,
      expect.objectContaining({ status: 'NodeVersionStatusPending' }),
    ]);
    expect([nodeId, stored.status_reason]).toEqual([nodeId, expect.stringContaining('it is not a zip file')]);
    return 'refused';
  }
  const published = {
    status: 'NodeVersionStatusActive',
    sha256: sha256(archive),
    size_bytes: archive.length,
  };
  expect([nodeId, stored]).toEqual([nodeId, expect.objectContaining(published)]);
  expect([nodeId, stored]).toEqual([
    nodeId,
    expect.not.objectContaining({ pending_shard: expect.anything() }),
  ]);
  expect(await download(stored.downloadUrl)).toEqual(archive);
  expect((await storedNode(nodeId))?.latest_version).toMatchObject({ id: stored.id, sha256: stored.sha256 });
  return 'published';
}

/** A client that begins again after any failure. Returns the uploads whose events are still on their way. */
async function publishAndUpload(
  nodeId: string,
  archive: Buffer,
  random: SeededRandom,
  count: (what: string) => void,
): Promise<Upload[]> {
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
      late.push(...(await sendEvent(upload, random, count)));
    }).then(() => true, onlyLostConnection);
    if (arrived) return late;
  }
  throw new Error(`"${nodeId}" was not uploaded in ${maxAttempts} attempts.`);
}

async function sendEvent(
  upload: Upload,
  random: SeededRandom,
  count: (what: string) => void,
): Promise<Upload[]> {
  const fate = random.pick(['prompt', 'prompt', 'late', 'doubled', 'doubled late', 'lost'] as const);
  count(`event ${fate}`);
  if (fate === 'prompt') await deliver(upload);
  if (fate === 'doubled') await Promise.all([deliver(upload), deliver(upload)]);
  if (fate === 'late') return [upload];
  return fate === 'doubled late' ? [upload, upload] : [];
}

async function deliver(upload: Upload): Promise<void> {
  for (let invocation = 1; invocation <= maxInvocations; invocation += 1) {
    revive();
    const isDone = await finalize(upload).then(
      () => true,
      () => false,
    );
    if (isDone) return;
  }
}

function onlyLostConnection(error: unknown): false {
  if (error instanceof LostConnection) return false;
  throw error;
}
