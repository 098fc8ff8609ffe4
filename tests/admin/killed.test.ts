import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { nodePagePath, nodePath } from '@node-registry/registry-rules/index-paths';
import { folder } from '@node-registry/testing/folders';
import { zip } from '@node-registry/testing/zip';
import { handler as bulk } from '../../functions/bulk-node-versions.ts';
import { s3 } from '../../lib/bucket/bucket.ts';
import { archiveKey, objectUrl } from '../../lib/bucket/object-keys.ts';
import { readText } from '../../lib/bucket/public-file.ts';
import { refreshPages } from '../../lib/index/page-files.ts';
import { refreshNode } from '../../lib/index/node-files.ts';
import { ownedNodeKey, publisherKey } from '../../lib/store/keys.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { admin, adminJson } from '../support/admin.ts';
import { intercept } from '../support/intercept.ts';
import { invoke } from '../support/invoke.ts';
import { setFields, storedItem, storedNode } from '../support/registry.ts';
import {
  addTwoPublishers,
  from,
  nodeId,
  ownersNow,
  publishAs,
  to,
  updateAs,
} from '../support/two-publishers.ts';
import { finalize, put, sha256 } from '../support/uploads.ts';

jest.setTimeout(120_000);

const archive = zip([{ name: '__init__.py', data: '' }]);
const published = ['1.0.0', '1.0.1'];
const labels = [...published, '1.1.0'];
const because = ['--reason', 'Steals keys: go back'];
const soon = () => ({ deadline: Date.now() + 9_000 });

/** What readers kept of the published versions. */
let addresses: URL[];
let before: Awaited<ReturnType<typeof seen>>;

beforeEach(() => setUp());

/** A node with published versions and one that waits for its archive. */
async function setUp(): Promise<void> {
  await addTwoPublishers();
  addresses = [];
  for (const version of labels) {
    const { upload } = await publishAs(from, 'olga', version);
    if (!published.includes(version)) continue;
    await put(upload, archive);
    await finalize(upload);
    addresses.push(objectUrl(archiveKey(upload, sha256(archive))));
  }
  before = await seen();
}

/** What a caller, and a reader who kept the addresses, sees of the versions. */
async function seen() {
  const node_versions = labels.map((version) => ({ node_id: nodeId, version }));
  const { body } = await invoke(bulk, 'bulk-node-versions', { body: { node_versions } });
  const answers = await Promise.all(addresses.map(async (address) => (await fetch(address)).status));
  const latest = (await storedNode(nodeId))?.latest_version?.version;
  return { versions: body.node_versions, answers, latest };
}

/** Everything that says whose the node is. */
async function owners(...lists: string[]) {
  const keys = lists.map((publisherId) => ownedNodeKey(publisherId, nodeId));
  const listed = await Promise.all(keys.map(({ pk, sk }) => storedItem(pk, sk)));
  return { of: await ownersNow(...labels), listed: listed.map(Boolean) };
}

/** Runs a command, killed at each of its writes in turn, and then again; each time on new publishers. */
async function killedAtEach(
  run: () => Promise<{ status: number }>,
  check: () => Promise<void>,
  prepare: () => Promise<unknown> = async () => {},
  between: () => Promise<unknown> = async () => {},
): Promise<number> {
  for (let killedAt = 1; ; killedAt += 1) {
    await prepare();
    let writes = 0;
    const removes = [dynamodb, s3()].map((client) =>
      intercept(client, async ({ command, send }) => {
        if (!/Get|Query|Scan|Head|List/.test(command)) writes += 1;
        if (writes >= killedAt) throw new Error('killed');
        return send();
      }),
    );
    const first = await run().catch(() => undefined);
    for (const remove of removes) remove();
    // A reader of its answer knows that it is not done.
    if (writes >= killedAt) expect(first?.status).not.toBe(0);
    await between();
    // So does every administrator after it.
    const told = async () => (await admin('node', 'show', nodeId)).stderr;
    if (writes >= killedAt && killedAt > 1) expect(await told()).toContain('run it again: npm run admin -- ');
    const { versions, latest } = await seen();
    const shown = versions[labels.indexOf(String(latest))];
    if (latest !== undefined) expect(shown.node_version).toHaveProperty('downloadUrl');
    expect((await run()).status).toBe(0);
    expect(await told()).toBe('');
    await check();
    if (writes < killedAt) return killedAt - 1;
    await setUp();
  }
}

describe('a second run after a kill at any write', () => {
  test.each([
    ['node-version ban', () => [nodeId, '1.0.0'], [403, 200], '1.0.1'],
    ['takedown', () => [nodeId, '1.0.0'], [403, 200], '1.0.1'],
    ['node ban', () => [nodeId], [403, 403], undefined],
    ['publisher ban', () => [from], [403, 403], undefined],
  ] as const)('finishes a %s and its unban', async (words, subject, banned, latest) => {
    const [noun] = words === 'takedown' ? ['node-version'] : words.split(' ');
    let runs = 0;
    const ban = () => {
      // The second run may spell a node and its version in another way.
      const isOther = runs++ % 2 === 1 && noun !== 'publisher';
      const spelled = subject().map((word) => word.toUpperCase().replace('1.0.0', 'v1.0'));
      return admin(...words.split(' '), ...(isOther ? spelled : subject()), ...because);
    };
    const unban = () => admin(String(noun), 'unban', ...subject());
    const noted = async (action: string) => {
      const history = noun === 'publisher' ? ['publisher', from] : ['node', nodeId];
      const entries: { action: string }[] = await adminJson('history', ...history);
      return entries.filter((entry) => entry.action === action).length;
    };
    const writes = await killedAtEach(ban, async () => {
      const { versions, answers, latest: shown } = await seen();
      expect([answers, shown, await noted(words)]).toEqual([banned, latest, 1]);
      for (const [place, { node_version }] of versions.entries())
        expect(node_version.downloadUrl === undefined).toBe(banned[place] !== 200);
    });
    await setUp();
    const check = async () => expect([await seen(), await noted(`${noun} unban`)]).toEqual([before, 1]);
    const others = await killedAtEach(unban, check, ban);

    expect(Math.min(writes, others)).toBeGreaterThan(1);
  });

  test('finishes an unban of a publisher although a transfer of its node was tried before', async () => {
    const writes = await killedAtEach(
      () => admin('publisher', 'unban', from),
      async () => expect(await seen()).toEqual(before),
      () => admin('publisher', 'ban', from, ...because),
      () => admin('node', 'transfer', nodeId, '--to', to),
    );

    expect(writes).toBeGreaterThan(1);
  });

  test('finishes a transfer', async () => {
    const writes = await killedAtEach(
      () => admin('node', 'transfer', nodeId, '--to', to),
      async () => {
        expect(await owners(from, to)).toEqual({ of: [to], listed: [false, true] });
        expect((await adminJson('history', 'node', nodeId))[0]).toMatchObject({
          action: 'node transfer',
          detail: `${from} to ${to}`,
        });
        expect((await updateAs(to, 'olga')).status).toBe(403);
        expect((await updateAs(to, 'rita')).status).toBe(200);
      },
      undefined,
      // A mistyped second run, which is rejected, ends nothing.
      () => admin('node', 'transfer', nodeId, '--to', `${to}-typo`),
    );

    expect(writes).toBeGreaterThan(2);
  });

  test.each(['merge', 'rename'])('finishes a %s', async (verb) => {
    const into = () => (verb === 'merge' ? to : `${from}-renamed`);
    const run = () => admin('publisher', verb, from, ...(verb === 'merge' ? ['--into'] : []), into());
    const writes = await killedAtEach(run, async () => {
      expect(await owners(from, into())).toEqual({ of: [into()], listed: [false, true] });
      const { members } = await adminJson('publisher', 'show', into());
      expect(members.map(({ id }: { id: string }) => id)).toEqual(
        verb === 'rename' ? ['mats', 'olga'] : ['mats', 'olga', 'rita'],
      );
      // The old id means the new one, and the pending version is resumed by the old token.
      expect((await updateAs(from, 'olga')).status).toBe(200);
      expect((await publishAs(from, 'olga', '1.1.0')).status).toBe(201);
    });

    expect(writes).toBeGreaterThan(4);
    await setFields(publisherKey(from), { moved_at: '2026-01-01T00:00:00.000Z' });
    const late = await updateAs(from, 'olga');
    expect([late.status, late.body.message]).toEqual([404, expect.stringContaining(`"${into()}" now`)]);
    expect((await admin('publisher', 'create', from, '--name', 'Again')).status).toBe(1);
  });

  test('finishes the numbers of a file', async () => {
    const file = join(folder, 'numbers.jsonl');
    const fileOf = async (path: string) => String((await readText(soon(), path))?.text);
    const writes = await killedAtEach(
      () => admin('node', 'numbers', '--file', file),
      async () => {
        expect(JSON.parse(await fileOf(nodePath(nodeId)))).toMatchObject({ repo_stars: 4321, rating: 4.5 });
        expect(await fileOf(nodePagePath(nodeId))).toContain('4,321');
      },
      async () => {
        await writeFile(file, `{"node_id":"${nodeId}","repo_stars":4321,"rating":4.5}`);
        await refreshNode(soon(), nodeId, 'all');
        await refreshPages(soon(), nodeId, labels);
      },
    );

    expect(writes).toBeGreaterThan(2);
  });
});

test.each([1, 2, 3, 4])(
  'an unban denies nothing if its publisher is renamed before write %i',
  async (place) => {
    await admin('publisher', 'ban', from, ...because);
    let writes = 0;
    intercept(dynamodb, async ({ command, send }) => {
      if (/Transact|Update/.test(command) && ++writes === place)
        await admin('publisher', 'rename', from, `${from}-2`);
      return send();
    });
    await admin('publisher', 'unban', from);

    expect((await seen()).answers).toEqual([200, 200]);
  },
);
