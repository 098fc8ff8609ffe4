import assert from 'node:assert/strict';
import { fc } from 'testing/properties';
import { count } from 'testing/property-runs';
import { banNode, unbanNode } from '../../tools/admin/registry/nodes.ts';
import type { Result } from './invoke.ts';
import { labels, type RegistryModel } from './registry-model.ts';
import { finalize, registry, upload } from './demo-registry.ts';

/** The names of the two nodes of this run that all commands use. */
interface Real {
  nodeId: (name: string) => string;
}

type Command = fc.AsyncCommand<RegistryModel, Real>;
type Run = (model: RegistryModel, real: Real) => Promise<void>;

const node = fc.constantFrom('a', 'b');
const label = fc.constantFrom(...labels);
const text = fc.constantFrom('one', 'two', 'three');
const content = fc.constantFrom('good', 'good', 'bad');
/** An upload, counted from the latest, so that most commands concern uploads that still count. */
const place = fc.nat(4);

export const commandArbitraries: fc.Arbitrary<Command>[] = [
  fc
    .tuple(node, label)
    .map(([name, version]) =>
      command(`publish ${name} ${version}`, (model, real) => publish(model, real, name, version)),
    ),
  fc.tuple(node, label, content).map(([name, version, content]) =>
    command(`release ${name} ${version} ${content}`, async (model, real) => {
      const count = model.uploads.length;
      await publish(model, real, name, version);
      if (model.uploads.length === count) return;
      await put(model, real, 0, content);
      await deliver(model, 0, 1);
    }),
  ),
  fc.tuple(place, content).map(([at, content]) =>
    command(
      `upload ${content} to ${at}`,
      (model, real) => put(model, real, at, content),
      (model) => at < model.uploads.length,
    ),
  ),
  fc.tuple(place, fc.integer({ min: 1, max: 3 })).map(([at, times]) =>
    command(
      `finalize ${at} ${times} times at once`,
      (model) => deliver(model, at, times),
      (model) => at < model.uploads.length,
    ),
  ),
  fc.tuple(node, text).map(([name, author]) =>
    command(`update ${name} to ${author}`, async (model, { nodeId }) => {
      const expected = model.update(nodeId(name), author);
      assert.equal(summary(await registry.update(nodeId(name), { author })), expected);
    }),
  ),
  fc.tuple(node, label, text, text).map(([name, version, host, category]) =>
    command(`set ${name} ${version} ${host} to ${category}`, async (model, { nodeId }) => {
      const expected = model.editHostNode(nodeId(name), version, host, category);
      const answer = await registry.editHostNode(nodeId(name), version, host, { category });
      assert.equal(summary(answer), expected);
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
  fc.constant(command('compare', (model) => model.compare())),
];

function command(name: string, run: Run, check: Command['check'] = () => true): Command {
  return {
    check,
    run: async (model, real) => {
      count(`commands: ${name.split(' ')[0]}`);
      await run(model, real);
    },
    toString: () => name,
  };
}

async function publish(model: RegistryModel, { nodeId }: Real, name: string, version: string) {
  const expected = model.publish(nodeId(name), version);
  const answer = await registry.publish(nodeId(name), version);
  assert.equal(summary(answer), expected);
  if (expected === '201') model.published(nodeId(name), version, answer);
}

async function put(model: RegistryModel, _: Real, at: number, content: 'good' | 'bad') {
  const target = uploadAt(model, at);
  const archive = content === 'good' ? await registry.archive(target.version) : Buffer.from('no zip');
  await upload(target.signedUrl, archive);
  target.content = content;
}

async function deliver(model: RegistryModel, at: number, times: number): Promise<void> {
  const target = uploadAt(model, at);
  const events = Array.from({ length: times }, () => finalize(target.signedUrl));
  assert.ok((await Promise.all(events)).every(Boolean), 'the finalizer handles every event');
  model.finalize(target);
}

function uploadAt({ uploads }: RegistryModel, at: number) {
  const found = uploads.at(-1 - at);
  if (!found) throw new Error(`There is no upload ${at}.`);
  return found;
}

function summary({ status, body }: Result): string {
  return [status, body.error].join(' ').trim();
}
