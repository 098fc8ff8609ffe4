import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, test } from '@jest/globals';
import { fc } from '@node-registry/testing/properties';
import { demoArchive } from '../../tools/local/demo-archive.ts';
import type { Result } from '../support/invoke.ts';
import { registry, seed } from '../support/demo-registry.ts';
import { check } from '@node-registry/testing/property-runs';
import type { Upload } from '../../lib/bucket/object-keys.ts';
import { download, finalize, put, uploadAt } from '../support/uploads.ts';
import { planOf, underPlan } from '../support/wire-faults.ts';
import { banNode } from '../../tools/admin/registry/bans.ts';

const maxCallers = 10;
const maxAttempts = 10;

/**
 * When each caller starts, in milliseconds, and which of its calls to the store is late, if any: the first, a read,
 * or the second, a write. Shrinking searches for fewer callers that still fail.
 */
const timings = fc.array(fc.record({ start: fc.nat(3), lateCall: fc.nat(2) }), {
  minLength: 2,
  maxLength: maxCallers,
  size: 'max',
});

/** Runs `work` once for each caller, all at the same time. */
type Meet = (work: (caller: number) => Promise<Result>) => Promise<Result[]>;

interface Race {
  nodeId: string;
  meet: Meet;
  callers: number;
}

const nodeFields = {
  author: 'set',
  name: 'set',
  description: 'set',
  license: 'set',
  icon: 'https://example.com/',
  tags: ['set'],
};

const races: Record<string, (race: Race) => Promise<void>> = {
  async publish({ nodeId, meet }) {
    const answers = await meet(() => registry.publish(nodeId, '1.1.0'));
    const ids = new Set(done(answers).map(({ body }) => body.node_version.id));
    assert.equal(ids.size, 1, 'concurrent publishes of one version have one id');
    expectOnly(answers, [201, 409]);
  },

  async 'different-fields'({ nodeId, meet }) {
    const sent = Object.entries(nodeFields);
    const fieldOf = (caller: number) => sent[caller % sent.length] as [string, unknown];
    const answers = await meet((caller) => registry.update(nodeId, Object.fromEntries([fieldOf(caller)])));
    const { body } = await registry.update(nodeId, {});
    for (const [caller, { status }] of answers.entries())
      if (status === 200) assert.deepEqual(body[fieldOf(caller)[0]], fieldOf(caller)[1], 'a field was lost');
    expectOnly(answers, [200]);
  },

  /**
   * Each caller reads the list, adds itself, and writes on the condition that no other caller did in between. Reading
   * is an update without fields, which moves the revision too, so that some callers never get through.
   */
  async append({ nodeId, meet }) {
    const append = async (caller: number): Promise<Result> => {
      for (let attempt = 1; ; attempt += 1) {
        const { body, headers } = await registry.update(nodeId, {});
        const tags = [...(body.tags ?? []), `caller ${caller}`];
        const answer = await registry.update(nodeId, { tags }, { 'if-match': String(headers.etag) });
        if (answer.status !== 412 || attempt === maxAttempts) return answer;
      }
    };
    const answers = await meet(append);
    const { body } = await registry.update(nodeId, {});
    assert.equal(new Set(body.tags).size, done(answers).length, 'an appended tag was lost');
    assert.equal(body.tags.length, done(answers).length, 'a tag was appended twice');
    expectOnly(answers, [200, 412]);
  },

  async finalize({ nodeId, meet }) {
    const uploads: Upload[] = [];
    for (let resumed = 0; resumed < 2; resumed += 1)
      uploads.push(uploadAt((await registry.publish(nodeId, '1.0.0')).body.signedUrl));
    const archives = await Promise.all(uploads.map((_, index) => demoArchive(`upload ${index}`)));
    await Promise.all(uploads.map((upload, index) => put(upload, archives[index] as Buffer)));
    // Every second event is about the superseded upload; the last one is about the other.
    await meet((caller) => finalize(uploads[caller % 2] as Upload).then(() => registry.update(nodeId, {})));
    await finalize(uploads[1] as Upload);
    const { node_version: version } = await registry.version(nodeId, '1.0.0');
    assert.deepEqual(await download(version.downloadUrl), archives[1], 'the newest upload is published');
    const { body } = await registry.update(nodeId, {});
    assert.equal(body.latest_version?.id, version.id, 'the published version is the latest');
  },

  /** Versions that become active at the same time: the highest stable one ends as the latest. */
  async latest({ nodeId, meet, callers }) {
    const labels = Array.from({ length: callers }, (_, index) =>
      index % 3 === 2 ? `2.0.0-beta.${index}` : `1.${index + 1}.0`,
    );
    const uploads = await Promise.all(
      labels.map(async (label) => uploadAt((await registry.publish(nodeId, label)).body.signedUrl)),
    );
    await Promise.all(uploads.map(async (upload, index) => put(upload, await demoArchive(`${index}`))));
    await meet((caller) => finalize(uploads[caller] as Upload).then(() => registry.update(nodeId, {})));
    const { body } = await registry.update(nodeId, {});
    const highest = labels.findLast((label) => !label.includes('-'));
    assert.equal(body.latest_version?.version, highest, 'the highest stable version is the latest');
  },

  /** An update may be written before the ban or be rejected; after the ban, nothing is written. */
  async ban({ nodeId, meet }) {
    let whenBanned: string | undefined;
    const [answers] = await Promise.all([
      meet((caller) => registry.update(nodeId, { author: `caller ${caller}` })),
      banNode(nodeId, 'test').then(async () => {
        whenBanned = (await registry.nodeForAdmin(nodeId)).author;
      }),
    ]);
    assert.equal((await registry.nodeForAdmin(nodeId)).author, whenBanned, 'a banned node was updated');
    assert.equal((await registry.update(nodeId, {})).body.error, 'node_banned', 'the ban was lost');
    expectOnly(answers, [200, 403]);
  },
};

function done(answers: readonly Result[]): Result[] {
  return answers.filter(({ status }) => status < 300);
}

function expectOnly(answers: readonly Result[], statuses: readonly number[]): void {
  for (const { status, text } of answers)
    assert.ok(statuses.includes(status), `a race must not be answered with ${text}`);
}

describe('concurrent callers', () => {
  let number = 0;

  test.each(Object.entries(races))(
    'lose no update, and exactly one wins if only one can: %s',
    async (_, race) => {
      await check(
        timings,
        async (callers) => {
          // A publisher can have 100 pending versions.
          await seed();
          number += 1;
          const nodeId = `race-${number}`;
          await registry.publish(nodeId, '1.0.0');
          const meet: Meet = (work) =>
            Promise.all(
              callers.map(async ({ start, lateCall }, caller) => {
                await pause(start);
                const plan = planOf([{ at: lateCall, kind: 'delay', lasts: false }]);
                return underPlan(plan, () => work(caller));
              }),
            );
          await race({ nodeId, meet, callers: callers.length });
        },
        { weight: 0.2 },
      );
    },
  );
});
