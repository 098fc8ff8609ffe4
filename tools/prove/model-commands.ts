import assert from 'node:assert/strict';
import fc from 'fast-check';
import { banNode, unbanNode } from '../admin/registry/nodes.ts';
import type { ArenaAnswer } from './arena.ts';
import { labels, type RegistryModel } from './model.ts';
import type { RegistryWorld } from './registry-world.ts';

/** The real registry, and how this run spells the two nodes that all commands are about. */
export interface Real {
  world: RegistryWorld;
  nodeId: (name: string) => string;
  count: (what: string) => void;
}

type Command = fc.AsyncCommand<RegistryModel, Real>;

const node = fc.constantFrom('a', 'b');
const label = fc.constantFrom(...labels);
const text = fc.constantFrom('one', 'two', 'three');
const place = fc.nat(5);

export const commandArbitraries: fc.Arbitrary<Command>[] = [
  fc.tuple(node, label).map(([name, version]) =>
    command(`publish ${name} ${version}`, async (model, { world, nodeId }) => {
      const expected = model.publish(nodeId(name), version);
      const answer = await world.publish(nodeId(name), version);
      assert.equal(shortly(answer), expected);
      const { node_version, signedUrl } = answer.body;
      if (expected === '201') model.published(nodeId(name), version, node_version.id, signedUrl);
    }),
  ),
  fc.tuple(place, fc.constantFrom('good', 'good', 'bad')).map(([at, content]) =>
    command(`upload ${content} to ${at}`, async (model, { world }) => {
      const upload = uploadAt(model, at);
      if (!upload) return;
      const bytes = content === 'good' ? await world.archive(upload.version) : Buffer.from('no zip');
      await world.upload(upload.signedUrl, bytes);
      upload.content = content;
    }),
  ),
  fc.tuple(place, fc.integer({ min: 1, max: 3 })).map(([at, times]) =>
    command(`finalise ${at} ${times} times at once`, async (model, { world }) => {
      const upload = uploadAt(model, at);
      if (!upload) return;
      const events = Array.from({ length: times }, () => world.finalize(upload.signedUrl));
      assert.ok((await Promise.all(events)).every(Boolean), 'the finaliser takes every event');
      model.finalize(upload);
    }),
  ),
  fc.tuple(node, text).map(([name, author]) =>
    command(`update ${name} to ${author}`, async (model, { world, nodeId }) => {
      const expected = model.update(nodeId(name), author);
      assert.equal(shortly(await world.update(nodeId(name), { author })), expected);
    }),
  ),
  fc.tuple(node, label, text, text).map(([name, version, host, category]) =>
    command(`set ${name} ${version} ${host} to ${category}`, async (model, { world, nodeId }) => {
      const expected = model.editHostNode(nodeId(name), version, host, category);
      const answer = await world.editHostNode(nodeId(name), version, host, { category });
      assert.equal(shortly(answer), expected);
      if (expected === '200') assert.equal(answer.body.category, category);
    }),
  ),
  fc.tuple(node, fc.boolean()).map(([name, isBanned]) =>
    command(`${isBanned ? 'ban' : 'unban'} ${name}`, async (model, { nodeId }) => {
      const known = model.nodes.get(nodeId(name));
      if (!known) return;
      await (isBanned ? banNode(nodeId(name), 'test') : unbanNode(nodeId(name)));
      known.isBanned = isBanned;
    }),
  ),
  fc.constant(command('compare', (model, { world }) => model.compare(world))),
];

function command(name: string, run: (model: RegistryModel, real: Real) => Promise<void>): Command {
  return {
    check: () => true,
    run: async (model, real) => {
      real.count(`commands: ${name.split(' ')[0]}`);
      await run(model, real);
    },
    toString: () => name,
  };
}

/** Counted from the latest, so that most commands are about uploads that still matter. */
function uploadAt({ uploads }: RegistryModel, at: number) {
  return uploads.at(-1 - at);
}

function shortly({ status, body }: ArenaAnswer): string {
  return [status, body.error].join(' ').trim();
}
