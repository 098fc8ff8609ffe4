import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { nodePath } from 'registry-rules/index-paths';
import { handler as publish } from '../../functions/publish-node-version.ts';
import { handler as updateNode } from '../../functions/update-node.ts';
import { readText } from '../../lib/bucket/text-objects.ts';
import { refreshNode } from '../../lib/index/write-files.ts';
import { nodeKey } from '../../lib/store/keys.ts';
import { dynamodb } from '../../lib/store/table.ts';
import { admin, adminJson, limitPages } from '../support/admin.ts';
import { beforeNext, intercept } from '../support/intercept.ts';
import { invoke } from '../support/invoke.ts';
import { addNode, addPublisher, addToken, addVersion, storedItem, storedNode } from '../support/registry.ts';
import { bearer } from '../support/tokens.ts';
import { setVariables } from '../support/variables.ts';
import { finalize, put } from '../support/uploads.ts';

let from: string;
let to: string;
let nodeId: string;
let token: string;

/** Two publishers; the first one has a node with a published version and one that waits for its archive. */
beforeEach(() => setUp());

async function setUp(): Promise<void> {
  const id = `a${randomUUID().slice(0, 8)}`;
  [from, to, nodeId] = [`${id}-old`, `${id}-new`, `node-${id}`];
  await addPublisher(from, { olga: 'owner', mats: 'member' });
  await addPublisher(to, { rita: 'owner', mats: 'member' });
  token = await addToken(from);
  await addNode(from, nodeId);
  await addVersion(from, nodeId, '1.0.0', { sha256: 'a'.repeat(64), createdAt: '2026-11-01T00:00:00.000Z' });
  await publishAs(from, 'olga', '1.1.0');
}

function publishAs(publisherId: string, user: string, version: string) {
  return invoke(publish, 'publish-node-version', {
    path: { publisherId, nodeId },
    body: { personal_access_token: token, node: {}, node_version: { version } },
    headers: { authorization: bearer(user) },
  });
}

function update(publisherId: string, user: string) {
  return invoke(updateNode, 'update-node', {
    path: { publisherId, nodeId },
    body: {},
    headers: { authorization: bearer(user) },
  });
}

test('a transferred pending version says why its first publisher cannot finish it, and its new owner does', async () => {
  const { body } = await publishAs(from, 'olga', '1.1.0');
  const version = '1.1.0';
  const { upload_id } = (await storedItem(nodeKey(nodeId).pk, 'VERSION#1.1.0')) ?? {};
  const upload = { nodeId, version, versionId: body.node_version.id, uploadId: String(upload_id) };
  await admin('node', 'transfer', nodeId, '--to', to);
  await put(upload, Buffer.from('an archive'));
  await finalize(upload);
  const blocked = await storedItem(nodeKey(nodeId).pk, 'VERSION#1.1.0');
  token = await addToken(to);
  const resumed = await publishAs(to, 'rita', '1.1.0');

  expect([blocked?.status, blocked?.status_reason]).toEqual([
    'NodeVersionStatusPending',
    expect.stringContaining('The node belongs to another publisher'),
  ]);
  expect([resumed.status, resumed.body.node_version.id]).toEqual([201, body.node_version.id]);
});

test.each(['merge', 'revoke'])(
  'a token does not survive its revocation amid a merge: %s first',
  async (first) => {
    const [{ id }] = await adminJson('token', 'list', from);
    const merge = () => admin('publisher', 'merge', from, '--into', to);
    const revoke = () => admin('token', 'revoke', from, id);
    let amid: Awaited<ReturnType<typeof admin>> | undefined;
    let isAmid = false;
    intercept(dynamodb, async ({ command, input, send }) => {
      if (!isAmid && /Transact|PutItem/.test(command) && JSON.stringify(input).includes('TOKEN#')) {
        isAmid = true;
        amid = await (first === 'merge' ? revoke() : merge());
      }
      return send();
    });
    const outer = await (first === 'merge' ? merge() : revoke());
    const [token] = await adminJson('token', 'list', to);

    // Where the merge was faster, the administrator hears that the token is not there any more.
    expect([amid?.status, outer.status, token.revoked_at !== undefined]).toEqual(
      first === 'merge' ? [0, 0, true] : [0, 1, false],
    );
  },
);

/** Every record that says whose the node is, once. */
async function ownersNow() {
  const versions = ['1.0.0', '1.1.0'].map((version) => storedItem(nodeKey(nodeId).pk, `VERSION#${version}`));
  const found = await Promise.all([storedNode(nodeId), ...versions]);
  return [...new Set(found.map((record) => record?.publisher_id))];
}

test.each([1, 2, 3])(
  'transfers in both directions at once leave one owner: before write %d',
  async (place) => {
    let writes = 0;
    intercept(dynamodb, async ({ command, send }) => {
      if (/Transact|Update/.test(command)) writes += 1;
      if (writes === place) {
        writes += 100;
        await admin('node', 'transfer', nodeId, '--to', to);
        await admin('node', 'transfer', nodeId, '--to', from);
      }
      return send();
    });
    await admin('node', 'transfer', nodeId, '--to', to);

    expect(await ownersNow()).toHaveLength(1);
  },
);

test.each([
  ['a transfer', () => ['node', 'transfer', nodeId, '--to', to]],
  ['a merge', () => ['publisher', 'merge', from, '--into', to]],
])('%s during which the publisher is banned leaves no version banned after the unban', async (_, words) => {
  beforeNext(dynamodb, /Transact/, () => admin('publisher', 'ban', from, '--reason', 'spam'));
  const { status, stderr } = await admin(...words());
  await admin('publisher', 'unban', from);
  const banned = await adminJson('node-version', 'find', '--status', 'banned');

  expect([status, stderr]).toEqual([1, expect.stringContaining('banned: lift the ban first')]);
  expect(banned).toEqual([]);
});

test('of two publishers that are merged into each other one stays, with all members, tokens and nodes', async () => {
  beforeNext(dynamodb, /Transact/, () => admin('publisher', 'merge', to, '--into', from));
  const late = await admin('publisher', 'merge', from, '--into', to);
  const { members } = await adminJson('publisher', 'show', from);

  expect([late.status, late.stderr]).toEqual([1, `The publisher "${to}" is "${from}" now.\n`]);
  expect(members.map(({ id }: { id: string }) => id)).toEqual(['mats', 'olga', 'rita']);
  expect(await adminJson('token', 'list', from)).toHaveLength(1);
  expect(await ownersNow()).toEqual([from]);
});

test('a member who is added while its publisher is merged joins the other one', async () => {
  let writes = 0;
  intercept(dynamodb, async ({ command, input, send }) => {
    if (/Transact/.test(command) && JSON.stringify(input).includes('moved_at')) {
      writes += 1;
      if (writes === 1) await admin('member', 'add', from, 'nora', '--role', 'owner');
    }
    return send();
  });
  await admin('publisher', 'merge', from, '--into', to);
  const { members } = await adminJson('publisher', 'show', to);

  expect(members).toContainEqual(expect.objectContaining({ id: 'nora', role: 'owner' }));
});

test('an old id takes no token and no trust, and keeps its history', async () => {
  await admin('publisher', 'rename', from, `${from}-2`);
  const stderr = `The publisher "${from}" is "${from}-2" now.\n`;

  for (const line of ['token create %s --label x', 'trust add %s --repository a/b --workflow a.yml'])
    expect(await admin(...line.replace('%s', from).split(' '))).toEqual({ status: 1, stdout: '', stderr });
  expect(await adminJson('history', 'publisher', from)).toContainEqual(
    expect.objectContaining({ action: 'publisher create', subject: from }),
  );
});

test('a rename is taken back by another one', async () => {
  const typo = `${from}-tpyo`;
  await admin('publisher', 'rename', from, typo);
  const { status } = await admin('publisher', 'rename', typo, from);

  expect([status, await ownersNow()]).toEqual([0, [from]]);
  expect((await update(typo, 'olga')).status).toBe(200);
  expect((await update(from, 'olga')).status).toBe(200);
});

test.each(['rename', 'merge'])('a %s into another spelling of the same id is rejected', async (verb) => {
  const into = verb === 'merge' ? ['--into'] : [];
  const { status, stderr } = await admin('publisher', verb, from.toUpperCase(), ...into, from);

  expect([status, stderr]).toEqual([1, 'Both ids mean the same publisher.\n']);
  expect((await update(from, 'olga')).status).toBe(200);
});

test('lists nodes, versions by status and the whole history over all publishers, page by page', async () => {
  limitPages(1);
  setVariables({ ADMIN_ACTOR: 'release job 7' });
  await admin('publisher', 'update', from, '--logo', 'https://a.example/l.svg', '--support', 'mailto:a@b.c');
  await admin('publisher', 'update', from, '--clear', 'support');
  const shown = await adminJson('publisher', 'show', from);
  const nodes = await adminJson('node', 'list', '--status', 'active');
  await addNode(from, `${nodeId}-2`);
  const owned = await adminJson('node', 'list', '--publisher', from);
  const pending = await adminJson('node-version', 'find', '--status', 'pending');
  const { stdout } = await admin('history', 'list', '--since', '2026-01-01');
  const entries = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

  expect(shown).toMatchObject({ logo: 'https://a.example/l.svg' });
  expect(shown).not.toHaveProperty('support');
  expect(nodes).toContainEqual(expect.objectContaining({ id: nodeId }));
  expect(owned).toHaveLength(2);
  expect(pending).toContainEqual(expect.objectContaining({ node_id: nodeId, version: '1.1.0' }));
  expect(entries).toContainEqual(
    expect.objectContaining({ actor: 'release job 7', subject: from, detail: 'logo, support' }),
  );
});

describe('node numbers', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'numbers-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function take(...lines: string[]) {
    const file = join(folder, 'numbers.jsonl');
    await writeFile(file, lines.join('\n'));
    return admin('node', 'numbers', '--file', file);
  }

  test('show in the update’s answer and in the index, leave the ETag alone, and are cleared by null', async () => {
    await refreshNode({ deadline: Date.now() + 9_000 }, nodeId, 'all');
    const before = await storedNode(nodeId);
    await take(`{"node_id":"${nodeId}","repo_stars":12,"rating":4.5,"downloads":1200}`, '');
    const file = await readText({ deadline: Date.now() + 9_000 }, nodePath(nodeId));
    expect(await storedNode(nodeId)).toEqual(before);
    const { body } = await update(from, 'olga');
    await take(`{"node_id":"${nodeId}","rating":null}`);

    const wanted = { repo_stars: 12, rating: 4.5, downloads: 1200 };
    expect([body, JSON.parse(String(file?.text))]).toMatchObject([wanted, wanted]);
    expect((await update(from, 'olga')).body).not.toHaveProperty('rating');
  });

  test('name the line that is not valid, and change nothing', async () => {
    const { status, stderr } = await take(
      `{"node_id":"${nodeId}","repo_stars":12}`,
      '{"node_id":"x","stars":1}',
    );

    expect([status, stderr]).toEqual([2, expect.stringContaining('Line 2 is not valid')]);
    expect((await update(from, 'olga')).body).not.toHaveProperty('repo_stars');
  });
});
