import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { folder } from '@node-registry/testing/folders';
import {
  catalogPath,
  configPath,
  nodePagePath,
  nodePath,
  pieceOf,
} from '@node-registry/registry-rules/index-paths';
import { memberIdOf } from '../../lib/caller.ts';
import { readText } from '../../lib/bucket/public-file.ts';
import { refreshNode } from '../../lib/index/node-files.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { changeNumbers } from '../../lib/registry/numbers.ts';
import { publisherRecord, tokenRecord } from '../../lib/registry/records.ts';
import { begunVersionsKey, nodeKey, personalAccessTokenKey, publisherKey } from '../../lib/store/keys.ts';
import { queryAll } from '../../lib/store/read.ts';
import { demoArchive } from '../../tools/local/demo-archive.ts';
import { admin, adminJson, limitPages } from '../support/admin.ts';
import { beforeNext, intercept } from '../support/intercept.ts';
import {
  addNode,
  addPublisher,
  addVersion,
  putItem,
  setFields,
  storedItem,
  storedNode,
} from '../support/registry.ts';
import {
  addTwoPublishers,
  from,
  nodeId,
  ownersNow,
  publishAs,
  to,
  updateAs,
  useTokenOf,
} from '../support/two-publishers.ts';
import { readTable } from '../support/table-image.ts';
import { setVariables } from '../support/variables.ts';
import { finalize, put, storedVersion } from '../support/uploads.ts';

/** The node has a published version and one that waits for its archive. */
beforeEach(async () => {
  await addTwoPublishers();
  await addVersion(from, nodeId, '1.0.0', { sha256: 'a'.repeat(64), createdAt: '2026-11-01T00:00:00.000Z' });
  await publishAs(from, 'olga', '1.1.0');
});

const soon = () => ({ deadline: Date.now() + 9_000 });
const owners = () => ownersNow('1.0.0', '1.1.0');

test('a transferred pending version says why its first publisher cannot finish it, and its new owner does', async () => {
  const { body, upload } = await publishAs(from, 'olga', '1.1.0');
  await admin('node', 'transfer', nodeId, '--to', to);
  await put(upload, demoArchive('1.1.0'));
  await finalize(upload);
  const blocked = await storedVersion(nodeId, '1.1.0');
  const begun = await Promise.all(
    [from, to].map(async (id) => {
      return (await storedItem(begunVersionsKey(id)))?.open ?? 0;
    }),
  );
  await useTokenOf(to);
  const resumed = await publishAs(to, 'rita', '1.1.0');

  expect(blocked).toMatchObject({
    status: 'NodeVersionStatusPending',
    status_reason_code: 'transferred',
    status_reason: expect.stringContaining('The node belongs to another publisher'),
  });
  expect([resumed.status, resumed.body.node_version.id]).toEqual([201, body.node_version.id]);
  expect(begun).toEqual([0, 1]);
});

test('an old id takes no token and no trust, keeps its history, and is taken back by later renames', async () => {
  await admin('publisher', 'rename', from, `${from}-2`);
  const stderr = `The publisher "${from}" is "${from}-2" now.\n`;

  for (const line of ['token create %s --label x', 'trust add %s --repository a/b --workflow a.yml'])
    expect(await admin(...line.replace('%s', from).split(' '))).toEqual({ status: 1, stdout: '', stderr });
  expect(await adminJson('history', 'publisher', from)).toContainEqual(
    expect.objectContaining({ action: 'publisher create', subject: from }),
  );
  await admin('publisher', 'rename', `${from}-2`, `${from}-3`);
  expect((await admin('publisher', 'rename', `${from}-3`, from)).status).toBe(0);
  const edits = [await updateAs(`${from}-2`, 'olga'), await updateAs(from, 'olga')];
  expect([await owners(), edits.map(({ status }) => status)]).toEqual([[from], [200, 200]]);
});

test('owners fill no partition of the history that a ban reads or writes, and it is shown whole, the latest first', async () => {
  await updateAs(from, 'olga', { name: 'Another' });
  const asked: string[] = [];
  intercept(dynamodb, ({ input, send }) => {
    asked.push(JSON.stringify(input));
    return send();
  });
  await admin('node-version', 'ban', nodeId, '1.0.0', '--reason', 'Steals keys');

  const { pk } = nodeKey(nodeId);
  expect(asked.filter((text) => text.includes(`${pk}#OWNERS`))).toEqual([]);
  expect(asked.filter((text) => text.includes(`${pk}#REGISTRY`))).toHaveLength(1);
  expect(await adminJson('history', 'node', nodeId)).toMatchObject([
    { action: 'node-version ban', detail: 'Steals keys' },
    { action: 'node update', actor: 'user:olga' },
  ]);
});

test('a merge brings each member, and makes its owners owners, whatever their ids', async () => {
  const ids = { mats: 'owner', ['__proto__']: 'member', constructor: 'member' } as const;
  await addPublisher(from, ids);
  await admin('publisher', 'merge', from, '--into', to);

  const members = Object.entries(publisherRecord((await storedItem(publisherKey(to))) ?? {}).members);
  expect(members.map(([user, { role }]) => `${user} ${role}`).sort()).toEqual([
    '__proto__ member',
    'constructor member',
    'mats owner',
    'olga owner',
    'rita owner',
  ]);
});

test('a merge into a banned publisher moves nothing', async () => {
  await admin('publisher', 'ban', to, '--reason', 'spam');
  const before = await readTable();
  const { status, stderr } = await admin('publisher', 'merge', from, '--into', to);

  expect([status, stderr]).toEqual([1, expect.stringContaining(`The publisher "${to}" is banned`)]);
  expect(await readTable()).toEqual(before);
});

test.each(['rename', 'merge'])('a %s into another spelling of the same id is rejected', async (verb) => {
  const into = verb === 'merge' ? ['--into'] : [];
  const { status, stderr } = await admin('publisher', verb, from.toUpperCase(), ...into, from);

  expect([status, stderr]).toEqual([1, 'Both ids mean the same publisher.\n']);
  expect((await updateAs(from, 'olga')).status).toBe(200);
});

test('lists nodes, versions by status, and a publisher’s history, page by page', async () => {
  limitPages(1);
  setVariables({ ADMIN_ACTOR: 'release job 7' });
  await admin('publisher', 'update', from, '--logo', 'https://a.example/l.svg', '--support', 'mailto:a@b.c');
  await admin('publisher', 'update', from, '--clear', 'support');
  const shown = await adminJson('publisher', 'show', from);
  const nodes = await adminJson('node', 'list', '--status', 'active');
  await addNode(from, `${nodeId}-2`);
  const owned = await adminJson('node', 'list', '--publisher', from);
  const pending = await adminJson('node-version', 'find', '--status', 'pending');
  const history = await adminJson('history', 'publisher', from);

  expect(shown).toMatchObject({ logo: 'https://a.example/l.svg' });
  expect(shown).not.toHaveProperty('support');
  expect(nodes).toContainEqual(expect.objectContaining({ id: nodeId }));
  expect(owned).toHaveLength(2);
  expect(pending).toContainEqual(expect.objectContaining({ node_id: nodeId, version: '1.1.0' }));
  expect(history).toContainEqual(
    expect.objectContaining({ actor: 'release job 7', detail: 'logo, support' }),
  );
});

test('node numbers show in the update’s answer and in the index, leave the ETag alone, and are cleared by null', async () => {
  const file = join(folder, 'numbers.jsonl');
  const textOf = async (path: string) => String((await readText(soon(), path))?.text);
  const take = async (...lines: object[]) => {
    const text = lines.map((line) => JSON.stringify({ node_id: nodeId, ...line })).join('\n');
    await writeFile(file, `${text}\n\n`);
    return admin('node', 'numbers', '--file', file);
  };
  const latest_version = { id: '1', version: '1.0.0', status: 'NodeVersionStatusActive' };
  await setFields(nodeKey(nodeId), { latest_version });
  await refreshNode(soon(), nodeId, 'all');
  const before = await storedNode(nodeId);
  // A line that isn't valid changes nothing.
  const invalid = await take({ repo_stars: 9, rating: 1 }, { stars: 1 });
  const wanted = { repo_stars: 12, downloads: 1200 };
  await take({ ...wanted, rating: 4.5 });
  const index = JSON.parse(await textOf(nodePath(nodeId)));
  const after = await storedNode(nodeId);
  const shown = await updateAs(from, 'olga');
  await take({ rating: null });
  const cleared = await updateAs(from, 'olga');
  // A run that died before it wrote the index.
  await changeNumbers(soon(), nodeId, (record) => ({ ...record, repo_stars: 4321 }));
  await take({ repo_stars: 4321 });

  const { catalog_pieces: pieces } = JSON.parse(await textOf(configPath));
  expect(await textOf(catalogPath(pieces, pieceOf(nodeId, pieces)))).toContain('"downloads":1200');
  expect(JSON.parse(await textOf(nodePath(nodeId)))).toMatchObject({ repo_stars: 4321 });
  expect(await textOf(nodePagePath(nodeId))).toContain('4,321');
  expect([invalid.status, invalid.stderr]).toEqual([2, 'Line 2 is not valid: stars is not a field\n']);
  expect([index, shown.body]).toMatchObject(Array(2).fill({ ...wanted, rating: 4.5 }));
  expect(after).toEqual(before);
  expect(cleared.body).toMatchObject(wanted);
  expect(cleared.body).not.toHaveProperty('rating');
});

test('a merge of more tokens than two transactions have follows a target that is renamed before each', async () => {
  const [token] = await queryAll(soon(), personalAccessTokenKey(from, ''));
  const put = (id: string) => putItem({ ...token, ...personalAccessTokenKey(from, id), id });
  await Promise.all(Array.from({ length: 99 }, (_, id) => put(String(id))));
  const names = [to, `${to}-2`, `${to}-3`];
  intercept(dynamodb, async ({ command, input, send }) => {
    const [id = '', next] = names;
    const text = JSON.stringify(input);
    const isRest = command === 'TransactWriteItemsCommand' && !text.includes('HISTORY#');
    if (next && isRest && text.includes(`PUBLISHER#${id}"`)) {
      names.shift();
      await admin('publisher', 'rename', id, next);
    }
    return send();
  });
  for (let run = 0; run < 3; run += 1) await admin('publisher', 'merge', from, '--into', to);

  expect(names).toHaveLength(1);
  expect(await adminJson('token', 'list', String(names[0]))).toHaveLength(100);
});

test('a merge in parts brings no token that works of a member who was removed in between', async () => {
  const made_by = memberIdOf('mats');
  const [token] = await queryAll(soon(), personalAccessTokenKey(from, ''));
  const put = (id: string) => putItem({ ...token, ...personalAccessTokenKey(from, id), id, made_by });
  await Promise.all(Array.from({ length: 60 }, (_, id) => put(String(id))));
  const transaction = /^TransactWriteItemsCommand$/;
  const remove = () => admin('member', 'remove', to, 'mats');
  // Right before the second one.
  beforeNext(dynamodb, transaction, async () => beforeNext(dynamodb, transaction, remove));
  await admin('publisher', 'merge', from, '--into', to);
  const moved = (await queryAll(soon(), personalAccessTokenKey(to, ''))).map((item) => tokenRecord(item));

  expect(moved.filter((each) => each.made_by === made_by)).toHaveLength(60);
  expect(moved.filter((each) => each.made_by === made_by && each.revoked_at === undefined)).toEqual([]);
  expect(moved).toContainEqual(expect.objectContaining({ id: token?.id }));
});
