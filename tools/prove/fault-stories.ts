import { demo } from '../local/demo.ts';
import type { ArenaAnswer } from './arena.ts';
import type { RegistryWorld } from './registry-world.ts';
import type { SeededRandom } from './seeded-random.ts';
import { drawPlan, type FaultPlan, underPlan } from './wire-faults.ts';

/** One story is told on a node of its own, and says what must not be, if anything is. */
export interface StoryScene {
  world: RegistryWorld;
  nodeId: string;
  random: SeededRandom;
  /** Hears of every answer, so that all of them can be judged by the same rules. */
  hear: (operation: string, answer: ArenaAnswer, plan: FaultPlan) => void;
}

export type Story = (scene: StoryScene) => Promise<string | undefined>;

const mostAttempts = 6;
const version = '1.0.0';

export const stories: Record<string, Story> = {
  async update(scene) {
    const { world, nodeId } = scene;
    const first = await world.publish(nodeId, version);
    const before = await world.update(nodeId, { author: 'old', name: 'kept' });
    const answer = await struck(scene, 'update-node', 6, () =>
      world.update(nodeId, { author: 'new', tags: ['new'] }),
    );
    const after = await world.update(nodeId, {});
    const isWritten = after.body.author === 'new' && after.body.tags?.[0] === 'new';
    const isKept = after.body.author === 'old' && after.body.tags === undefined;
    if (first.status !== 201 || before.body.name !== after.body.name) return 'something else changed';
    if (!isWritten && !isKept) return 'half of the update was written';
    return answer.status === 200 && !isWritten ? 'an update that was answered as done is lost' : undefined;
  },

  /** The only writer can lose no race: a 412 tells them that somebody else was faster. */
  async 'update if unchanged'(scene) {
    const { world, nodeId } = scene;
    await world.publish(nodeId, version);
    const { headers } = await world.update(nodeId, { author: 'old' });
    const match = { 'if-match': String(headers.etag) };
    const answer = await struck(scene, 'update-node', 6, () =>
      world.update(nodeId, { author: 'new' }, match),
    );
    if (answer.status === 412) return 'the only writer was told that another had been faster';
    const { body } = await world.update(nodeId, {});
    return answer.status === 200 && body.author !== 'new'
      ? 'an update that was answered as done is lost'
      : undefined;
  },

  async 'host node'(scene) {
    const { world, nodeId } = scene;
    await world.publish(nodeId, version);
    const changes = { category: 'new', function: 'new' };
    const answer = await struck(scene, 'update-host-node', 6, () =>
      world.editHostNode(nodeId, version, 'host', changes),
    );
    const { body } = await world.editHostNode(nodeId, version, 'host', {});
    if ((body.category === 'new') !== (body.function === 'new')) return 'half of the change was written';
    return answer.status === 200 && body.category !== 'new'
      ? 'a change that was answered as done is lost'
      : undefined;
  },

  async bulk(scene) {
    const { world } = scene;
    const pairs = [version, '1.1.0', '9.9.9'].map((label) => ({ node_id: demo.nodeId, version: label }));
    const answer = await struck(scene, 'bulk-node-versions', 4, () => world.bulk(pairs));
    if (answer.status !== 200) return undefined;
    const expected = ['success', 'success', 'not_found'];
    const isWrong = (entry: { status: string }, index: number) =>
      ![expected[index], 'error'].includes(entry.status);
    return answer.body.node_versions.some(isWrong) ? 'an entry of the bulk answer is wrong' : undefined;
  },

  async publish(scene) {
    const { world, nodeId, random } = scene;
    const began = Date.now();
    const url = await publishAtLast(scene);
    if (url === undefined) return 'a version could not be published';
    const archive = await world.archive(nodeId);
    await world.upload(url, archive);
    // Lambda runs an event of S3 three times before it gives up.
    for (let invocation = 1; invocation <= 3; invocation += 1)
      if (await underPlan(drawPlan(random, 14), () => world.finalize(url))) break;
    await world.sweep(began);
    const { body } = await world.bulk([{ node_id: nodeId, version }]);
    const { id, status, downloadUrl } = body.node_versions[0].node_version;
    if (status !== 'NodeVersionStatusActive') return 'a version is stuck after the sweep';
    const node = await world.update(nodeId, {});
    if (node.body.latest_version?.id !== id) return 'the latest version did not move';
    return archive.equals(await (await fetch(downloadUrl)).bytes())
      ? undefined
      : 'the archive is another one';
  },
};

/** A publisher who begins again, as real ones do, until it has gone well; the last time without faults. */
async function publishAtLast(scene: StoryScene): Promise<string | undefined> {
  const { world, nodeId } = scene;
  for (let attempt = 1; attempt < mostAttempts; attempt += 1) {
    const answer = await struck(scene, 'publish-node-version', 6, () => world.publish(nodeId, version));
    if (answer.status === 201) return answer.body.signedUrl;
    const { body } = await world.bulk([{ node_id: nodeId, version }]);
    const isThere = body.node_versions[0].status === 'success';
    const node = await world.update(nodeId, {});
    if (isThere !== (node.status === 200)) return undefined;
  }
  const { status, body } = await world.publish(nodeId, version);
  return status === 201 ? body.signedUrl : undefined;
}

async function struck(
  { random, hear }: StoryScene,
  operation: string,
  lastCall: number,
  work: () => Promise<ArenaAnswer>,
): Promise<ArenaAnswer> {
  const plan = drawPlan(random, lastCall);
  const answer = await underPlan(plan, work);
  hear(operation, answer, plan);
  return answer;
}
