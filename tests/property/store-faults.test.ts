import assert from 'node:assert/strict';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { fc } from '@node-registry/testing/properties';
import { check, counts } from '@node-registry/testing/property-runs';
import { demo } from '../../tools/local/demo.ts';
import { readApiDocument } from '../support/api-document.ts';
import { registry, seed } from '../support/demo-registry.ts';
import type { Result } from '../support/invoke.ts';
import { readLog, type VerifyAnswer, verifierOf } from '../support/log-reader.ts';
import { setVariables } from '../support/variables.ts';
import { faultKinds, planOf, type Strike, strikesIn, underPlan } from '../support/wire-faults.ts';

/** The context of one run: its own node, and the faults that are injected. */
interface Scene {
  nodeId: string;
  /** The fault plans of the endpoint's invocations, in order. */
  plans: Strike[][];
  verify: VerifyAnswer;
}

interface Scenario {
  /** The maximum number of calls to the stores in one of its invocations. */
  calls: number;
  /** Throws if a guarantee is broken. */
  run: (scene: Scene) => Promise<void>;
}

const version = '1.0.0';

/** The nodes of one scenario. The versions of all of them are pending, and a publisher can have 1,000 such versions. */
const nodeCount = 200;
setVariables({ MAX_PENDING_VERSIONS: '1000' });

const scenarios: Record<string, Scenario> = {
  update: {
    calls: 3,
    async run(scene) {
      const { nodeId } = scene;
      await published(nodeId);
      const before = await registry.update(nodeId, { author: 'old', tags: ['old'], name: 'kept' });
      const answer = await struck(scene, 'update-node', () =>
        registry.update(nodeId, { author: 'new', tags: ['new'] }),
      );
      const { author, tags, name } = (await registry.update(nodeId, {})).body;
      assert.equal(name, before.body.name, 'another field changed');
      assert.equal(author === 'new', tags?.[0] === 'new', 'half of the update was written');
      if (answer.status === 200) assert.equal(author, 'new', 'a successful update is lost');
    },
  },

  'host-node': {
    calls: 3,
    async run(scene) {
      const { nodeId } = scene;
      await published(nodeId);
      await registry.editHostNode(nodeId, version, 'host', { category: 'old', function: 'old' });
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

  /** What becomes of its archive: tests/functions/lost-calls.test.ts. */
  publish: {
    calls: 4,
    async run(scene) {
      const { nodeId } = scene;
      while (scene.plans.length > 0) {
        await struck(scene, 'publish-node-version', () => registry.publish(nodeId, version));
        const { status } = await registry.version(nodeId, version);
        const node = await registry.update(nodeId, {});
        assert.equal(status === 'success', node.status === 200, 'a version without its node, or the reverse');
      }
      await published(nodeId);
    },
  },
};

async function published(nodeId: string): Promise<void> {
  assert.equal((await registry.publish(nodeId, version)).status, 201);
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

const document = await readApiDocument();
const log = readLog();

beforeAll(seed);

describe('a failed call to a store', () => {
  // Scenarios mostly wait for retries, so they run concurrently, each on its own nodes.
  test('leaves nothing half written, loses no success, and gets nothing stuck', async () => {
    const verify = verifierOf(document, log);
    await Promise.all(
      Object.entries(scenarios).map(([name, { calls, run: scenario }]) => {
        let number = 0;
        const values = fc.record({
          // Each invocation of the scenario gets the next of these plans, and the last ones get none.
          plans: fc.array(strikesIn(calls), { minLength: 1, maxLength: 8, size: 'max' }),
        });
        return check(values, ({ plans }) => {
          number += 1;
          return scenario({ nodeId: `${name}-${number % nodeCount}`, plans: [...plans], verify });
        });
      }),
    );

    for (const kind of faultKinds) expect(counts[`faults: ${kind}`]).toBeGreaterThan(0);
    expect(log.leaks).toEqual([]);
  });
});
