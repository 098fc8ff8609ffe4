import { hash, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { createPublicIndex } from '@node-registry/registry-client';
import { demo } from '../../tools/local/demo.ts';
import { demoArchive } from '../../tools/local/demo-archive.ts';
import { type Actor, type Answer, hold } from './actor.ts';
import type { Source } from './events.ts';

/** What a journey remembers from one step to the next. */
export type State = Record<string, string>;

/** Every step may be made by another release. */
type Step = (actor: Actor, state: State) => Promise<unknown>;

/** The words of a command line, with what the journey remembers in the place of `$name`. */
const wordsOf = (line: string, state: State) =>
  line.split(' ').map((word) => (word.startsWith('$') ? String(state[word.slice(1)]) : word));

function operator(line: string): Step {
  return (actor, state) => actor.admin(...wordsOf(line, state));
}

function schedule(name: string, minutes: number): Step {
  return (actor) => actor.schedule(name, minutes);
}

const owner = (state: State) => `owner-${state.id}`;
const nodePath = (state: State) => ({ publisherId: String(state.publisher), nodeId: String(state.node) });

/** A publisher with an owner, a token and a node that is not published yet. */
const begin: Step = async (actor, state) => {
  state.id = randomUUID().slice(0, 8);
  state.publisher = `acme-${state.id}`;
  state.node = `node-${state.id}`;
  await actor.admin(...wordsOf('publisher create $publisher --name Acme', state));
  await actor.admin(...wordsOf(`member add $publisher ${owner(state)} --role owner`, state));
  const { token, id } = await actor.admin<State>(...wordsOf('token create $publisher --label job', state));
  Object.assign(state, { token, tokenId: id });
};

const anyPublish = { label: '1.0.0', token: '', accepted: [201] };
type Publish = Partial<typeof anyPublish>;

async function publish(actor: Actor, state: State, options: Publish = {}, headers = {}): Promise<Answer> {
  const { label, token, accepted } = { ...anyPublish, ...options };
  const node = label === '1.0.0' ? { description: 'first', tags: ['kept'] } : {};
  const body = { personal_access_token: token || state.token, node, node_version: { version: label } };
  const request = { user: owner(state), path: nodePath(state), headers, body };
  const answer = await actor.call('publish-node-version', request, ...accepted);
  if (answer.status < 300) state.url = answer.body.signedUrl;
  return answer;
}

/** The caller's PUT to the signed URL. */
async function upload({ url }: State, label = '1.0.0', bytes?: Buffer): Promise<void> {
  const body = new Uint8Array(bytes ?? (await demoArchive(label)));
  const { status } = await fetch(String(url), { method: 'PUT', body });
  hold('an upload is accepted', status === 200, { status });
}

/** Publishes a version whose archive has been uploaded. Its event waits. */
function published(options: Publish = {}): Step {
  return async (actor, state) => {
    const { status } = await publish(actor, state, options);
    if (status < 300) await upload(state, options.label);
  };
}

/** What the events of a journey contain. */
const markOf = ({ id, ticket }: State) => id ?? hash('sha256', String(ticket));
const handled: Step = (actor, state) => actor.handle(markOf(state));

async function lose({ stage }: Actor, state: State, source: Source): Promise<void> {
  await stage.events.take(markOf(state), source);
}

async function retrieved(actor: Actor, state: State, labels: readonly string[]) {
  const node_versions = labels.map((version) => ({ node_id: String(state.node), version }));
  const { body } = await actor.call('bulk-node-versions', { body: { node_versions } });
  return body.node_versions.map(({ node_version = {} }) => node_version);
}

function downloadable(...labels: string[]): Step {
  return async (actor, state) => {
    for (const found of await retrieved(actor, state, labels)) {
      const { status } = found.downloadUrl ? await fetch(found.downloadUrl) : { status: 404 };
      hold('no download is lost', status === 200, { status, found });
    }
  };
}

function banned(...labels: string[]): Step {
  return async (actor, state) => {
    const found = await retrieved(actor, state, labels);
    hold('a ban holds', !found.some((version) => 'downloadUrl' in version), found);
    await actor.settle(markOf(state));
    const file = await createIndex(actor).node(String(state.node));
    hold('a ban holds', !file?.versions.some(({ version = '' }) => labels.includes(version)), file);
  };
}

const extracted: Step = async (actor, state) => {
  const [found] = await retrieved(actor, state, ['1.0.0']);
  hold('no extraction is lost', found?.host_node_extract_status === 'success', found);
};

async function editNode(actor: Actor, state: State, body: object, headers = {}, ...accepted: number[]) {
  const request = { user: owner(state), path: nodePath(state), body, headers };
  return actor.call('update-node', request, ...accepted);
}

function editHostNode(actor: Actor, state: State, body: object): Promise<Answer> {
  const path = { nodeId: String(state.node), version: '1.0.0', hostNodeName: demo.hostNodeName };
  return actor.call('update-host-node', { user: owner(state), path, body });
}

const createIndex = ({ stage }: Actor) =>
  createPublicIndex({ downloadsUrl: String(stage.environment.DOWNLOAD_BASE_URL) });

/** Once no event of a node waits, the index says what the API says. */
const settled: Step = async (actor, state) => {
  await actor.settle(markOf(state));
  const index = createIndex(actor);
  const node = await index
    .node(String(state.node))
    .catch(({ message }: Error) => ({ message, versions: [] }));
  const labels = (node?.versions ?? []).map(({ version }) => String(version));
  const line = (await index.catalog()).find(({ id }) => id === state.node);
  const hostNodes = await index.hostNodes(String(state.node), String(labels[0]));
  const found = [node?.versions, line?.latest_version, line?.description, hostNodes?.host_nodes?.length];
  const { latest_version, description } = (await editNode(actor, state, {})).body;
  const said = [await retrieved(actor, state, labels), latest_version?.version, description, 2];
  hold('the index says what the table says', isDeepStrictEqual(found, said), { found, said });
};

function newPayer(state: State): void {
  Object.assign(state, { user: `payer-${randomUUID()}`, marker: randomUUID(), key: randomUUID() });
}

function pay(actor: Actor, state: State, fields: object = {}, headers: object = {}): Promise<Answer> {
  const body = { prompt: `for ${state.marker}`, model: 'vidq2-turbo', duration: 1, ...fields };
  return actor.send('text-to-video', { user: String(state.user), headers: { ...headers }, body });
}

const payWithKey = (actor: Actor, state: State, fields: object = {}) =>
  pay(actor, state, { payload: largePayload(state), ...fields }, { 'idempotency-key': state.key });

/** It doesn't compress to the size of one record. */
function largePayload({ key }: State): string {
  return Array.from({ length: 7000 }, (_, place) => hash('sha512', `${key}${place}`, 'base64')).join('');
}

function sentFor({ stage }: Actor, { marker }: State) {
  return stage.simulation.received.filter(({ taskId, body }) => taskId && body.prompt === `for ${marker}`);
}

function requireOnePayment(actor: Actor, state: State): void {
  hold('a key never pays twice', sentFor(actor, state).length === 1, sentFor(actor, state));
}

const replayed: Step = async (actor, state) => {
  const { status, body } = await payWithKey(actor, state);
  requireOnePayment(actor, state);
  hold('a kept answer is replayed', status === 200 && body.task_id === state.task, { status, body });
  const { status: mismatch } = await payWithKey(actor, state, { duration: 2 });
  hold('a key is of one request', mismatch === 409, { mismatch });
  requireOnePayment(actor, state);
};

const usedUp: Step = async (actor, state) => {
  const { status } = await payWithKey(actor, state, { payload: 'small' });
  hold('a used key is refused', status === 409 && sentFor(actor, state).length === 1, { status });
};

/** Relights so many times at once, and requires that so many were accepted. */
function spend(calls: number, accepted: number): Step {
  return async (actor, { user, marker }) => {
    const body = { image: 'https://example.com/a.png', prompt: `for ${marker}` };
    const relight = () => actor.send('relight-image', { user: String(user), body });
    const statuses = (await Promise.all(Array.from({ length: calls }, relight))).map(({ status }) => status);
    const taken = statuses.filter((status) => status === 200).length;
    const isHeld = taken === accepted && statuses.every((status) => [200, 403, 429].includes(status));
    hold('limits are exact', isHeld, { statuses, accepted });
  };
}

function spent(tasks: number, credits: number): Step {
  return async (actor, { user }) => {
    const { used } = await actor.admin<{ used: object }>('limit', 'show', `${user}`);
    const list = await actor.admin<{ credits: number }[]>('usage', 'list', '--user', `${user}`);
    const found = { ...used, sum: list.reduce((total, each) => total + each.credits, 0) };
    hold('limits are exact', isDeepStrictEqual(found, { ...used, tasks, credits, sum: credits }), found);
  };
}

function notify(said: object): Step {
  return (actor, { ticket, task }) => {
    const path = { provider: 'video', ticket: String(ticket) };
    return actor.call('receive-notification', { path, body: { id: task, ...said } });
  };
}

export const journeys: Record<string, readonly Step[]> = {
  version: [
    begin,
    async (actor, state) => {
      state.key = randomUUID();
      const answer = await publish(actor, state, {}, { 'idempotency-key': state.key });
      state.version = answer.body.node_version.id;
    },
    async (actor, state) => {
      const { body, headers } = await publish(actor, state, {}, { 'idempotency-key': state.key });
      const isReplay = headers['idempotent-replayed'] === 'true' && body.node_version.id === state.version;
      hold('a kept answer is replayed', isReplay, { headers, body });
      await upload(state);
    },
    handled,
    downloadable('1.0.0'),
    (actor, state) => editHostNode(actor, state, { description: 'mine' }),
    handled,
    async (actor, state) => {
      await extracted(actor, state);
      const { body } = await editHostNode(actor, state, {});
      hold('no edit is lost', body.description === 'mine' && body.function === 'load', body);
      const { headers } = await editNode(actor, state, { description: 'second' });
      state.etag = String(headers.etag);
    },
    async (actor, state) => {
      const { body } = await editNode(actor, state, { author: 'Ann' }, { 'if-match': state.etag });
      hold('no edit is lost', body.description === 'second' && body.tags[0] === 'kept', body);
      await editNode(actor, state, { description: 'stale' }, { 'if-match': state.etag }, 412);
    },
    published({ label: '1.1.0' }),
    handled,
    (actor, state) => editNode(actor, state, { status: 'NodeStatusDeleted' }),
    async (actor, state) => {
      const { body } = await editNode(actor, state, { status: 'NodeStatusActive' });
      const isHeld = body.description === 'second' && body.latest_version?.version === '1.1.0';
      hold('no edit is lost', isHeld, body);
    },
    settled,
  ],
  'lost events': [
    begin,
    (actor, state) => published()(actor, state).then(() => lose(actor, state, 'uploads')),
    schedule('finalize-upload', 5),
    (actor, state) => lose(actor, state, 'extractions'),
    downloadable('1.0.0'),
    schedule('extract-host-nodes', 10),
    handled,
    extracted,
    settled,
  ],
  ban: [
    begin,
    async (actor, state) => {
      await publish(actor, state);
      await upload(state, '1.0.0', Buffer.from('this is no zip'));
    },
    handled,
    published({ accepted: [200, 201] }),
    handled,
    operator('node-version ban $node 1.0.0 --reason Spam'),
    banned('1.0.0'),
    operator('node-version unban $node 1.0.0'),
    downloadable('1.0.0'),
    published({ label: '1.1.0' }),
    operator('node ban $node --reason Spam'),
    published({ label: '1.2.0', accepted: [403] }),
    banned('1.0.0', '1.1.0'),
    operator('node unban $node'),
    // A sweep may have published the archive that the ban had stopped.
    published({ label: '1.1.0', accepted: [200, 201, 409] }),
    handled,
    downloadable('1.0.0', '1.1.0'),
    operator('publisher ban $publisher --reason Spam'),
    banned('1.0.0', '1.1.0'),
    published({ label: '1.3.0', accepted: [403] }),
    operator('publisher unban $publisher'),
    // An archive that a ban stopped and that comes again makes no second event. The sweep finds its version.
    schedule('extract-host-nodes', 10),
    settled,
  ],
  job: [
    begin,
    async (actor, state) => {
      state.repository = `octo/${state.id}`;
      state.issuer = String(actor.stage.environment.CI_ISSUERS?.split(' ')[1]);
      const line = 'trust add $publisher --repository $repository --workflow release.yml --issuer $issuer';
      state.trust = (await actor.admin<{ id: string }>(...wordsOf(line, state))).id;
      state.job = actor.ciToken(state.repository);
    },
    (actor, state) => published({ token: String(state.job) })(actor, state),
    // Its token is of one version.
    (actor, state) => publish(actor, state, { label: '1.1.0', token: String(state.job), accepted: [401] }),
    handled,
    operator('trust remove $publisher $trust'),
    (actor, state) =>
      publish(actor, state, { label: '1.1.0', token: actor.ciToken(`${state.repository}`), accepted: [401] }),
    operator('token revoke $publisher $tokenId'),
    (actor, state) => publish(actor, state, { label: '1.1.0', accepted: [401] }),
    downloadable('1.0.0'),
    settled,
  ],
  key: [
    async (actor, state) => {
      newPayer(state);
      const { status, body } = await payWithKey(actor, state);
      hold('a paid call is answered', status === 200, { status, body });
      state.task = body.task_id;
    },
    replayed,
    replayed,
  ],
  'lost answer': [
    async (actor, state) => {
      newPayer(state);
      actor.stage.simulation.misbehave({ kind: 'reset', provider: 'video' });
      const { status } = await payWithKey(actor, state, { payload: 'small' });
      hold('a lost answer is not called unsent', [502, 504].includes(status), { status });
    },
    usedUp,
    schedule('sweep-spending', 6),
    usedUp,
    spent(1, 74),
  ],
  limit: [
    async (actor, state) => {
      newPayer(state);
      await actor.admin('limit', 'set', `${state.user}`, '--tasks-per-day', '4', '--credits-per-day', '7');
    },
    spend(1, 1),
    spend(2, 2),
    spend(3, 1),
    spent(4, 4),
    schedule('sweep-spending', 6),
    operator('limit set $user --tasks-per-day 6'),
    spend(3, 2),
    operator('caller block $user --reason Leaked'),
    spend(1, 0),
    operator('caller unblock $user'),
    operator('limit set $user --tasks-per-day 10'),
    spend(2, 1),
    spent(7, 7),
  ],
  notification: [
    async (actor, state) => {
      newPayer(state);
      const callback_url = `${actor.stage.receiverUrl}/${state.marker}`;
      const { status, body, headers } = await pay(actor, state, { callback_url });
      hold('a paid call is answered', status === 200, { status, body });
      state.task = body.task_id;
      const [sent] = sentFor(actor, state);
      state.ticket = String(sent?.body.callback_url).split('/').at(-1) ?? '';
      state.status = String(/<([^>]+)>/.exec(String(headers.link))?.[1]);
    },
    (actor, state) =>
      notify({ state: 'processing' })(actor, state).then(() => lose(actor, state, 'notifications')),
    schedule('deliver-notifications', 12),
    handled,
    notify({ state: 'success', creations: [{ id: 'a', url: 'https://example.com/film.mp4' }] }),
    notify({ state: 'processing' }),
    schedule('deliver-notifications', 24),
    handled,
    async (actor, state) => {
      await actor.schedule('deliver-notifications', 24);
      await actor.settle(markOf(state));
      const mine = actor.stage.notified.filter(({ path }) => path === `/${state.marker}`);
      const last = new Map(mine.map(({ id, body }) => [id, JSON.parse(body)]));
      hold('every notification arrives', last.size === 2, [...last]);
      for (const [id, said] of last) {
        const word = id.endsWith('_1') ? 'processing' : 'success';
        hold('a notification means the same', said.task_id === state.task && said.state === word, said);
      }
      const shown = (await (await fetch(String(state.status))).json()) as State;
      hold('a status is shown', shown.state === 'success', shown);
    },
  ],
};
