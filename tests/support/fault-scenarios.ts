import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { demo } from '../../tools/local/demo.ts';
import { expireChecks, sweep } from './access-fixtures.ts';
import type { Result } from './invoke.ts';
import { download, finalize, registry, upload } from './demo-registry.ts';
import { type FaultPlan, planOf, type Strike, underPlan } from './wire-faults.ts';

/** Throws if an answer is wrong for any request, given the faults that were injected. */
export type VerifyAnswer = (operation: string, answer: Result, plan: FaultPlan) => void;

/** The context of one run: its own node, and the faults that are injected. */
export interface Scene {
  nodeId: string;
  /** The fault plans of the endpoint's invocations, and of the finalizer's, in order. */
  plans: Strike[][];
  eventPlans: Strike[][];
  isBad: boolean;
  /** How S3's event about the upload is delivered. */
  event: 'prompt' | 'doubled' | 'late' | 'lost';
  verify: VerifyAnswer;
}

interface Scenario {
  /** The maximum number of calls to the stores in one of its invocations. */
  calls: number;
  /** Throws if a guarantee is broken. */
  run: (scene: Scene) => Promise<void>;
}

const version = '1.0.0';
const maxAttempts = 6;
/** Lambda tries an S3 event three times before it gives up. */
const maxInvocations = 3;

export const scenarios: Record<string, Scenario> = {
  update: {
    calls: 3,
    async run(scene) {
      const { nodeId } = scene;
      await registry.publish(nodeId, version);
      const before = await registry.update(nodeId, { author: 'old', name: 'kept' });
      const answer = await struck(scene, 'update-node', () =>
        registry.update(nodeId, { author: 'new', tags: ['new'] }),
      );
      const { author, tags, name } = (await registry.update(nodeId, {})).body;
      assert.equal(name, before.body.name, 'another field changed');
      assert.equal(author === 'new', tags?.[0] === 'new', 'half of the update was written');
      if (answer.status === 200) assert.equal(author, 'new', 'a successful update is lost');
    },
  },

  /** A single writer cannot lose a race, so it must never be answered 412. */
  'update-if-unchanged': {
    calls: 3,
    async run(scene) {
      const { nodeId } = scene;
      await registry.publish(nodeId, version);
      const { headers } = await registry.update(nodeId, { author: 'old' });
      const match = { 'if-match': String(headers.etag) };
      const answer = await struck(scene, 'update-node', () =>
        registry.update(nodeId, { author: 'new' }, match),
      );
      assert.notEqual(answer.status, 412, 'the only writer was answered 412');
      const { body } = await registry.update(nodeId, {});
      if (answer.status === 200) assert.equal(body.author, 'new', 'a successful update is lost');
    },
  },

  'host-node': {
    calls: 3,
    async run(scene) {
      const { nodeId } = scene;
      await registry.publish(nodeId, version);
      const answer = await struck(scene, 'update-host-node', () =>
        registry.editHostNode(nodeId, version, 'host', { category: 'new', function: 'new' }),
      );
      const { body } = await registry.editHostNode(nodeId, version, 'host', {});
      assert.equal(body.category, body.function, 'half of the change was written');
      if (answer.status === 200) assert.equal(body.category, 'new', 'a successful change is lost');
    },
  },

  bulk: {
    calls: 2,
    async run(scene) {
      const pairs = [version, '1.1.0', '9.9.9'].map((label) => ({ node_id: demo.nodeId, version: label }));
      const { status, body } = await struck(scene, 'bulk-node-versions', () => registry.bulk(pairs));
      if (status !== 200) return;
      for (const [index, expected] of ['success', 'success', 'not_found'].entries())
        assert.ok([expected, 'error'].includes(body.node_versions[index].status), 'an entry is wrong');
    },
  },

  /** After any failure, a version ends active with the bytes of its publisher, or cleanly rejected, but never stuck. */
  publish: {
    calls: 4,
    async run(scene) {
      const { nodeId, isBad } = scene;
      const began = Date.now();
      const archive = isBad ? Buffer.from(`no zip ${nodeId}`) : await registry.archive(nodeId);
      await publishUntilUploaded(scene, archive);
      const { node_version: waiting } = await registry.version(nodeId, version);
      await expireChecks(nodeId, version);
      await sweep(began);
      const { node_version: ended } = await registry.version(nodeId, version);
      if (isBad) {
        assert.equal(ended.status, 'NodeVersionStatusPending', 'a bad archive was published');
        assert.ok(/not a zip/.test(ended.status_reason), 'a bad archive is not rejected with its reason');
        return;
      }
      assert.equal(ended.status, 'NodeVersionStatusActive', 'a version is stuck after the sweep');
      assert.equal(ended.id, waiting.id, 'a version changed its id');
      const node = await registry.update(nodeId, {});
      assert.equal(node.body.latest_version?.id, ended.id, 'the latest version did not move');
      assert.deepEqual(await download(ended.downloadUrl), archive, 'the archive has other bytes');
      assert.ok(!(await sweep(began)).includes(nodeId), 'a version is never removed from the sweep');
    },
  },
};

/** A publisher who retries until the publish succeeds, like real ones; the last attempt has no faults. */
async function publishUntilUploaded(scene: Scene, archive: Buffer): Promise<void> {
  const { nodeId, event } = scene;
  for (let attempt = 1; ; attempt += 1) {
    if (attempt === maxAttempts) scene.plans.length = 0;
    const answer = await struck(scene, 'publish-node-version', () => registry.publish(nodeId, version));
    const { status } = await registry.version(nodeId, version);
    const node = await registry.update(nodeId, {});
    assert.equal(status === 'success', node.status === 200, 'a version without its node, or the reverse');
    if (answer.status !== 201) {
      assert.ok(attempt < maxAttempts, `a version cannot be published: ${answer.text}`);
      continue;
    }
    const url = answer.body.signedUrl;
    await upload(url, archive);
    const deliveries = { prompt: 1, doubled: 2, late: 1, lost: 0 }[event];
    // A late event arrives after its publisher has published the version again and uploaded to another address.
    if (event === 'late' && attempt < maxAttempts && scene.plans.length > 0) {
      const next = await struck(scene, 'publish-node-version', () => registry.publish(nodeId, version));
      if (next.status === 201) await upload(next.body.signedUrl, archive);
      else await upload((await registry.publish(nodeId, version)).body.signedUrl, archive);
    }
    await Promise.all(Array.from({ length: deliveries }, () => deliver(scene, url)));
    return;
  }
}

async function deliver({ eventPlans }: Scene, url: string): Promise<void> {
  const id = randomUUID();
  for (let invocation = 1; invocation <= maxInvocations; invocation += 1)
    if (await underPlan(planOf(eventPlans.shift() ?? []), () => finalize(url, id))) return;
}

async function struck(
  { plans, verify }: Scene,
  operation: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const plan = planOf(plans.shift() ?? []);
  const answer = await underPlan(plan, work);
  verify(operation, answer, plan);
  return answer;
}
