import { banNode } from '../admin/registry/nodes.ts';
import type { ArenaAnswer } from './arena.ts';
import type { HuntOptions, Tally } from './hunt.ts';
import type { RegistryWorld } from './registry-world.ts';
import type { SeededRandom } from './seeded-random.ts';

interface RaceOptions {
  world: RegistryWorld;
  random: SeededRandom;
  length: HuntOptions['length'];
}

/** What one caller did, and when, as seen from outside. */
interface Happening {
  caller: number;
  began: number;
  ended: number;
  answer: ArenaAnswer;
}

type Race = (world: RegistryWorld, nodeId: string, tally: Tally) => Promise<void>;

const rounds = { short: 4, usual: 100, long: 300 };
const callers = 10;

/** Callers who meet: one winner where there can be one, and no update that was answered as done is lost. */
export async function huntRaces({ world, random, length }: RaceOptions, tally: Tally): Promise<void> {
  const prefix = `races-${random.below(1_000_000)}`;
  for (let round = 1; round <= rounds[length]; round += 1) {
    for (const [name, race] of Object.entries(races)) {
      const nodeId = `${prefix}-${round}-${name}`;
      await race(world, nodeId, tally);
      tally.count(`races: ${name}`);
    }
  }
}

const races: Record<string, Race> = {
  async publish(world, nodeId, tally) {
    const history = await meet(() => world.publish(nodeId, '1.0.0'));
    const ids = new Set(done(history).map(({ answer }) => answer.body.node_version.id));
    if (ids.size !== 1)
      tally.violate('concurrent publishes of one version made several ids', summary(history));
    expectOnly(tally, history, [201, 409]);
  },

  async fields(world, nodeId, tally) {
    await world.publish(nodeId, '1.0.0');
    const fields = ['author', 'name', 'description', 'license', 'icon', 'tags'];
    const bodyOf = (index: number) => {
      const field = fields[index % fields.length] ?? 'author';
      return { [field]: field === 'tags' ? ['set'] : field === 'icon' ? 'https://example.com/' : 'set' };
    };
    const history = await meet((index) => world.update(nodeId, bodyOf(index)));
    const { body } = await world.update(nodeId, {});
    const lost = done(history)
      .flatMap(({ caller }) => Object.keys(bodyOf(caller)))
      .filter((field) => !(field in body));
    if (lost.length > 0) tally.violate('updates of different fields were lost', lost, summary(history));
    expectOnly(tally, history, [200]);
  },

  async 'if-match'(world, nodeId, tally) {
    await world.publish(nodeId, '1.0.0');
    const { headers } = await world.update(nodeId, {});
    const match = { 'if-match': String(headers.etag) };
    const history = await meet((index) => world.update(nodeId, { author: `caller ${index}` }, match));
    const winners = done(history).map(({ caller }) => `caller ${caller}`);
    const { body } = await world.update(nodeId, {});
    if (winners.length !== 1 || body.author !== winners[0])
      tally.violate('If-Match had not one winner', winners, body.author, summary(history));
    expectOnly(tally, history, [200, 412]);
  },

  /** Each caller reads the list, adds itself, and writes on the condition that nobody else did meanwhile. */
  async append(world, nodeId, tally) {
    await world.publish(nodeId, '1.0.0');
    const append = async (index: number): Promise<ArenaAnswer> => {
      for (let attempt = 1; ; attempt += 1) {
        const { body, headers } = await world.update(nodeId, {});
        const tags = [...(body.tags ?? []), `caller ${index}`];
        const answer = await world.update(nodeId, { tags }, { 'if-match': String(headers.etag) });
        if (answer.status !== 412 || attempt === 100) return answer;
      }
    };
    const history = await meet(append);
    const { body } = await world.update(nodeId, {});
    const winners = done(history).length;
    if (new Set(body.tags).size !== winners || body.tags.length !== winners)
      tally.violate('an appended tag was lost', body.tags, summary(history));
  },

  async 'host-node'(world, nodeId, tally) {
    await world.publish(nodeId, '1.0.0');
    const fields = ['category', 'description', 'function', 'input_types', 'return_names', 'return_types'];
    const history = await meet((index) =>
      world.editHostNode(nodeId, '1.0.0', 'host', {
        [fields[index % fields.length] ?? '']: `caller ${index}`,
      }),
    );
    const { body } = await world.editHostNode(nodeId, '1.0.0', 'host', {});
    const lost = done(history).filter(({ caller }) => !(String(fields[caller % fields.length]) in body));
    if (lost.length > 0) tally.violate('an edit of a host node was lost', body, summary(history));
    expectOnly(tally, history, [200, 409]);
  },

  async finalise(world, nodeId, tally) {
    const urls: string[] = [];
    for (let resumed = 0; resumed < 2; resumed += 1)
      urls.push(String((await world.publish(nodeId, '1.0.0')).body.signedUrl));
    const archives = await Promise.all(urls.map((_, index) => world.archive(`upload ${index}`)));
    await Promise.all(urls.map((url, index) => world.upload(url, archives[index] as Buffer)));
    await Promise.all(
      Array.from({ length: callers }, (_, index) => world.finalize(urls[index % 2] as string)),
    );
    const { body } = await world.bulk([{ node_id: nodeId, version: '1.0.0' }]);
    const version = body.node_versions[0].node_version;
    const node = await world.update(nodeId, {});
    const bytes = await (await fetch(version.downloadUrl)).bytes();
    if (!archives[1]?.equals(bytes))
      tally.violate('what was published is not the upload that counts', version);
    if (JSON.stringify(node.body.latest_version?.id) !== JSON.stringify(version.id))
      tally.violate('the latest version is not the one that was published', node.body.latest_version);
  },

  /** An update may land before the ban or be refused; one that began after it can only be refused. */
  async ban(world, nodeId, tally) {
    await world.publish(nodeId, '1.0.0');
    const [history, bannedAt] = await Promise.all([
      meet(async (index) => {
        await new Promise((resolve) => setTimeout(resolve, index));
        return world.update(nodeId, { author: `caller ${index}` });
      }),
      banNode(nodeId, 'test').then(() => performance.now()),
    ]);
    const late = done(history).filter(({ began }) => began > bannedAt + callers);
    if (late.length > 0) tally.violate('a banned node was updated', summary(late));
    if ((await world.update(nodeId, {})).body.error !== 'node_banned')
      tally.violate('a ban was lost', nodeId);
    expectOnly(tally, history, [200, 403]);
  },
};

async function meet(work: (index: number) => Promise<ArenaAnswer>): Promise<Happening[]> {
  return Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      const began = performance.now();
      const answer = await work(caller);
      return { caller, began, ended: performance.now(), answer };
    }),
  );
}

function done(history: readonly Happening[]): Happening[] {
  return history.filter(({ answer }) => answer.status < 300);
}

function expectOnly(tally: Tally, history: readonly Happening[], statuses: readonly number[]): void {
  const others = history.filter(({ answer }) => !statuses.includes(answer.status));
  if (others.length > 0) tally.violate('an answer that a race must not have', summary(others));
  for (const { answer } of history) tally.count(`races: answers ${answer.status}`);
}

function summary(history: readonly Happening[]): string {
  return history
    .map(({ caller, began, ended, answer }) => {
      const times = `${began.toFixed(1)}–${ended.toFixed(1)}`;
      return `${caller} ${times}: ${answer.status} ${answer.body.error ?? ''}`;
    })
    .join(', ');
}
