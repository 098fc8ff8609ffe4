import { expect } from '@jest/globals';
import type { IndexedNode } from '@node-registry/registry-client';
import { demoArchive } from '../../tools/local/demo-archive.ts';
import { demo } from '../../tools/local/demo.ts';
import { taskHash } from '../../lib/notifications/records.ts';
import { taskKey } from '../../lib/store/keys.ts';
import { setFields } from '../support/registry.ts';
import { isSigned } from '../support/receiver.ts';
import { pathOf } from '../support/relay.ts';
import type { Side } from './side.ts';
import { handle, handleAll, receiver, simulation } from './stage.ts';

/** What a journey remembers from one step to the next. */
export type Known = Record<string, string> & { id: string };

/** Each may be another release's. */
export type Step = (side: Side, known: Known) => Promise<unknown>;

const label = '1.0.0';
const handled: Step = (side) => handle(side);
const withKnown = (text: string, known: Known) =>
  text.replace(/\{(\w+)\}/g, (_, name) => String(known[name]));
const operator =
  (line: string): Step =>
  (side, known) =>
    side.admin(withKnown(line, known));

/** A publisher with an owner and a token. */
const begin: Step = async (side, known) => {
  const { id } = known;
  Object.assign(known, { publisher: `acme-${id}`, node: `node-${id}`, owner: `owner-${id}` });
  await operator('publisher create {publisher} --name Acme')(side, known);
  await operator('member add {publisher} {owner} --role owner')(side, known);
  const made = await side.admin<Known>(`token create ${known.publisher} --label job`);
  Object.assign(known, { token: made.token, tokenId: made.id });
};

const nodePath = ({ publisher, node }: Known) => ({ publisherId: String(publisher), nodeId: String(node) });

async function publish(side: Side, known: Known, fields = {}, headers = {}) {
  const node_version = { version: label, ...fields };
  const body = { personal_access_token: known.token, node: { id: known.node }, node_version };
  return side.call('publish-node-version', { user: known.owner, path: nodePath(known), body, headers });
}

const rejected =
  (status: number, version: string): Step =>
  async (side, known) =>
    expect(await publish(side, known, { version })).toMatchObject({ status });

async function upload(url: string, version = label): Promise<void> {
  const body = new Uint8Array(await demoArchive(version));
  expect((await fetch(url, { method: 'PUT', body })).status).toBe(200);
}

/** Publishes a version with its archive; what comes of that waits. */
const published =
  (version = label): Step =>
  async (side, known) => {
    const { status, body } = await publish(side, known, { version });
    expect([status, body.error]).toEqual([201, undefined]);
    await upload(body.signedUrl, version);
  };

const update = (side: Side, known: Known, body: object, headers = {}) =>
  side.call('update-node', { user: known.owner, path: nodePath(known), body, headers });

const hostNode = (side: Side, known: Known, body: object) => {
  const path = { nodeId: String(known.node), version: label, hostNodeName: demo.hostNodeName };
  return side.call('update-host-node', { user: known.owner, path, body });
};

async function versions(side: Side, { node }: Known, labels: string[]) {
  const body = { node_versions: labels.map((version) => ({ node_id: node, version })) };
  const { body: found } = await side.call('bulk-node-versions', { body });
  return found.node_versions.map((entry: { node_version?: object }) => ({ ...entry.node_version }));
}

/** Bulk, the index as the release's own client reads it, and S3 agree that these can be downloaded, and no others. */
const downloadable =
  (...labels: string[]): Step =>
  async (side, known) => {
    await handleAll(side);
    const all = ['1.0.0', '1.1.0'];
    const found = await versions(side, known, all);
    expect(all.filter((_, place) => found[place].downloadUrl)).toEqual(labels);
    for (const { downloadUrl } of found) if (downloadUrl) expect((await fetch(downloadUrl)).status).toBe(200);
    const file = (await side.run('client', known.node)) as IndexedNode | undefined;
    const listed = (file?.versions ?? []).filter(({ downloadUrl }) => downloadUrl);
    expect(listed.map(({ version }) => version).sort()).toEqual(labels);
  };

const pay = (side: Side, known: Known, body = {}) =>
  side.call('text-to-video', {
    user: known.payer,
    body: { prompt: `for ${known.id}`, model: 'vidq2-turbo', duration: 1, ...body },
    headers: { 'idempotency-key': known.key },
  });

const ownTasks = ({ id }: Known) =>
  simulation.received.filter(({ taskId, body }) => taskId && body.prompt === `for ${id}`);

/** A task whose caller wants notifications. */
const bought: Step = async (side, known) => {
  Object.assign(known, { payer: `payer-${known.id}`, key: `key-${known.id}-${known.task}` });
  const { status, body, headers } = await pay(side, known, { callback_url: `${receiver.url}/${known.id}` });
  expect([status, body.error]).toEqual([200, undefined]);
  const [, url = ''] = /<([^>]+)>; rel="status"/.exec(String(headers.link)) ?? [];
  Object.assign(known, { task: body.task_id, url, place: String(ownTasks(known).at(-1)?.body.callback_url) });
};

const replayed: Step = async (side, known) => {
  const before = ownTasks(known).length;
  const again = await pay(side, known, { callback_url: `${receiver.url}/${known.id}` });
  const { 'idempotent-replayed': isReplayed } = again.headers;
  expect([again.status, again.body.task_id, isReplayed]).toEqual([200, known.task, 'true']);
  expect((await pay(side, known, { duration: 2 })).body.error).toBe('idempotency_mismatch');
  expect(ownTasks(known)).toHaveLength(before);
};

const rejectedPayment =
  (error: string): Step =>
  async (side, known) =>
    expect((await pay(side, { ...known, key: error })).body).toMatchObject({ error });

/** Its provider says nothing until the service asks. */
const polled: Step = async (side, { task, place }) => {
  for (const each of simulation.tasks.list) if (each.id === task) each.state = 'success';
  const pending_since = new Date(Date.now() - 60_000).toISOString();
  await setFields(taskKey(taskHash(pathOf(place).task)), { pending_since });
  await side.run('hand-over-work', {});
};

const told =
  (state: string): Step =>
  async (side, { place, task, id }) => {
    const creations = [{ id: 'c', url: `https://films.example/${id}.mp4` }];
    const body = { id: task, state, ...(state === 'success' && { creations }) };
    const { status } = await side.call('receive-notification', { path: { ...pathOf(place) }, body });
    expect(status).toBe(200);
  };

/** The caller was notified, and the status file and the provider's own path say the same. */
const delivered =
  (state: string): Step =>
  async (side, known) => {
    await handleAll(side);
    const mine = receiver.received.filter(
      ({ path, body }) => path === `/${known.id}` && body.includes(String(known.task)),
    );
    expect(mine.map(isSigned)).not.toContain(false);
    expect(mine.map(({ body }) => JSON.parse(body).state)).toContain(state);
    expect(await (await fetch(String(known.url))).json()).toMatchObject({ task_id: known.task, state });
    const routeKey = 'GET /proxy/video-provider/tasks/{task_id}/creations';
    const path = { task_id: String(known.task) };
    const asked = await side.call('task-results', { user: known.payer, routeKey, path });
    expect(asked.body).toMatchObject({ id: known.task, state });
  };

const spent =
  (credits: number): Step =>
  async (side, { payer }) => {
    const list = await side.admin<{ credits: number }[]>(`usage list --user ${payer}`);
    const { used } = await side.admin<{ used: { credits: number } }>(`limit show ${payer}`);
    expect([used.credits, list.reduce((sum, each) => sum + each.credits, 0)]).toEqual([credits, credits]);
  };

const people =
  (routeKey: string, user: string, body?: object): Step =>
  async (side, known) => {
    const path = { publisherId: `club-${known.id}`, memberId: String(known.member), username: '' };
    const named = `${user}-${known.id}`;
    const headers = { 'content-type': 'application/json' };
    const filled = JSON.parse(withKnown(JSON.stringify(body ?? {}), known));
    const answer = await side.call('self-service', { user: named, routeKey, path, body: filled, headers });
    expect([answer.status < 300, answer.body?.error]).toEqual([true, undefined]);
    const { token = known.token, invitation = known.invitation } = { ...answer.body };
    Object.assign(known, { token, invitation });
    if (Array.isArray(answer.body)) known.member = answer.body.find(({ role }) => role === 'member')?.id;
  };

export const journeys: Record<string, readonly Step[]> = {
  'a version': [
    begin,
    async (side, known) => {
      known.version = (await publish(side, known, {}, { 'idempotency-key': 'first' })).body.node_version.id;
    },
    async (side, known) => {
      const { body, headers } = await publish(side, known, {}, { 'idempotency-key': 'first' });
      expect([headers['idempotent-replayed'], body.node_version.id]).toEqual(['true', known.version]);
    },
    async (side, known) => {
      const { body } = await publish(side, known, { changelog: 'resumed' });
      expect(body.node_version.id).toBe(known.version);
      await upload(body.signedUrl);
    },
    handled,
    handled,
    downloadable('1.0.0'),
    async (side, known) => {
      const { body } = await hostNode(side, known, { description: 'mine' });
      expect(body).toMatchObject({ description: 'mine', function: 'load' });
    },
    async (side, known) => {
      const { headers } = await update(side, known, { description: 'second', tags: ['kept'] });
      known.etag = String(headers.etag);
    },
    async (side, known) => {
      const { body } = await update(side, known, { author: 'Ann' }, { 'if-match': known.etag });
      expect(body).toMatchObject({ description: 'second', author: 'Ann', tags: ['kept'] });
      expect((await update(side, known, {}, { 'if-match': known.etag })).status).toBe(412);
    },
    published('1.1.0'),
    handled,
    handled,
    async (side, known) => {
      const [first, second] = await versions(side, known, ['1.0.0', '1.1.0']);
      expect(first).toMatchObject({ changelog: 'resumed', host_node_extract_status: 'success' });
      expect(second.host_node_extract_status).toBe('success');
      expect((await hostNode(side, known, { category: 'x' })).body).toMatchObject({ description: 'mine' });
      expect((await publish(side, known, { deprecated: true })).status).toBe(201);
    },
    (side, known) => update(side, known, { status: 'NodeStatusDeleted' }),
    async (side, known) => {
      const { body } = await update(side, known, { status: 'NodeStatusActive' });
      expect(body).toMatchObject({ description: 'second', latest_version: { version: '1.1.0' } });
    },
    downloadable('1.0.0', '1.1.0'),
  ],
  'a ban': [
    begin,
    published(),
    operator('node ban {node} --reason Spam'),
    handled,
    operator('node unban {node}'),
    // The ban stopped it.
    published(),
    handled,
    operator('node-version ban {node} 1.0.0 --reason Spam'),
    downloadable(),
    operator('node-version unban {node} 1.0.0'),
    published('1.1.0'),
    downloadable('1.0.0', '1.1.0'),
    operator('node ban {node} --reason Spam'),
    downloadable(),
    rejected(403, '1.2.0'),
    operator('node unban {node}'),
    downloadable('1.0.0', '1.1.0'),
    operator('publisher ban {publisher} --reason Spam'),
    downloadable(),
    rejected(403, '1.2.0'),
    operator('publisher unban {publisher}'),
    operator('node-version withdraw {node} 1.1.0'),
    operator('node-version restore {node} 1.1.0'),
    downloadable('1.0.0', '1.1.0'),
    operator('token revoke {publisher} {tokenId}'),
    rejected(401, '1.2.0'),
  ],
  'a task': [
    bought,
    replayed,
    told('processing'),
    delivered('processing'),
    told('success'),
    delivered('success'),
    bought,
    polled,
    delivered('success'),
    operator('limit set {payer} --tasks-per-day 3'),
    bought,
    rejectedPayment('budget_exhausted'),
    operator('caller block {payer} --reason Leaked'),
    replayed,
    rejectedPayment('caller_blocked'),
    operator('caller unblock {payer}'),
    spent(12),
  ],
  'people of a publisher': [
    people('POST /publishers', 'ida', { id: 'club-{id}', name: 'Club' }),
    people('POST /publishers/{publisherId}/invitations', 'ida', { role: 'member' }),
    people('POST /invitations/accept', 'max', { invitation: '{invitation}' }),
    people('POST /publishers/{publisherId}/tokens', 'max', { name: 'own' }),
    async (side, known) => {
      Object.assign(known, {
        publisher: `club-${known.id}`,
        node: `node-${known.id}`,
        owner: `max-${known.id}`,
      });
      await published()(side, known);
    },
    downloadable('1.0.0'),
    people('PUT /publishers/{publisherId}', 'ida', { description: 'A club' }),
    people('GET /publishers/{publisherId}/members', 'ida'),
    operator('publisher create guild-{id} --name Guild'),
    operator('node transfer {node} --to guild-{id}'),
    people('DELETE /publishers/{publisherId}/members/{memberId}', 'ida'),
    rejected(401, '1.1.0'),
    downloadable('1.0.0'),
  ],
};
