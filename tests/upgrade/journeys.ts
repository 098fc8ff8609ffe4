import { hash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { demo } from '../../tools/local/demo.ts';
import { demoArchive } from '../../tools/local/demo-archive.ts';
import { type Actor, type Answer, hold } from './actor.ts';

/** What a journey remembers. It is kept with a recorded table, so that another release can go on. */
export type State = Record<string, string>;

type Made = { id: string; token: string };

/** Every step may be made by another release, and any journey may stop after any step for a year. */
export interface Step {
  run: (actor: Actor, state: State) => Promise<void>;
  /** It moves the clock or makes a provider fail, so nothing else may run meanwhile. */
  isAlone?: true;
}

const step = (run: Step['run']): Step => ({ run });
const alone = (run: Step['run']): Step => ({ run, isAlone: true });
/** A command of the operator. */
const operator = (wordsOf: (state: State) => string[]): Step =>
  step(async (actor, state) => void (await actor.admin(...wordsOf(state))));

/** A ban is lifted with the newest administration: an older one leaves the archives denied (docs/CHANGELOG.md). */
const lifting = (wordsOf: (state: State) => string[]): Step =>
  step(async (actor, state) => void (await (actor.stage.newest ?? actor).admin(...wordsOf(state))));

const owner = (state: State) => `owner-${state.id}`;
const version = (state: State, label = '1.0.0') => ({ nodeId: String(state.node), version: label });

/** A publisher with an owner, a token and a node that is not published yet. */
const begin = step(async (actor, state) => {
  state.id = randomUUID().slice(0, 8);
  state.publisher = `acme-${state.id}`;
  state.node = `node-${state.id}`;
  await actor.admin('publisher', 'create', state.publisher, '--name', 'Acme');
  await actor.admin('member', 'add', state.publisher, owner(state), '--role', 'owner');
  state.token = (await actor.admin<Made>('token', 'create', state.publisher, '--label', 'job')).token;
});

async function publish(
  actor: Actor,
  state: State,
  { label = '1.0.0', token = state.token, key = '', node = {}, accepted = [201] as number[] } = {},
): Promise<Answer> {
  const answer = await actor.call(
    'publish-node-version',
    {
      user: owner(state),
      path: { publisherId: String(state.publisher), nodeId: String(state.node) },
      headers: key === '' ? {} : { 'idempotency-key': key },
      body: { personal_access_token: token, node, node_version: { version: label } },
    },
    ...accepted,
  );
  if (answer.status < 300) state.url = answer.body.signedUrl;
  return answer;
}

/** The caller's PUT to the signed URL. */
async function upload({ stage, name }: Actor, { url }: State, bytes: Buffer): Promise<void> {
  const put = () => fetch(String(url), { method: 'PUT', body: new Uint8Array(bytes) });
  const { status } = await stage.events.during(name, put);
  hold('an upload is accepted', status === 200, { status });
}

/** What the events of a journey contain. */
export const marksOf = ({ id, ticket }: State) => [id ?? hash('sha256', String(ticket))];

/** The events that the journey has caused. Those that follow wait for another step. */
async function handle(actor: Actor, state: State): Promise<void> {
  await actor.stage.events.handle(() => actor, { marks: marksOf(state) });
}
const handled = step(handle);

async function retrieved(actor: Actor, state: State, label = '1.0.0') {
  const pair = { node_id: String(state.node), version: label };
  const { body } = await actor.call('bulk-node-versions', { body: { node_versions: [pair] } });
  return body.node_versions[0]?.node_version ?? {};
}

async function requireDownload(actor: Actor, state: State, label = '1.0.0'): Promise<void> {
  const found = await retrieved(actor, state, label);
  hold('no download is lost', found.downloadUrl !== undefined, found);
  const { status } = await fetch(String(found.downloadUrl));
  hold('no download is lost', status === 200, { status });
}

async function requireNoDownload(actor: Actor, state: State, label = '1.0.0'): Promise<void> {
  const found = await retrieved(actor, state, label);
  hold('a ban holds', found.downloadUrl === undefined, found);
}

async function requireExtraction(actor: Actor, state: State): Promise<void> {
  const { host_node_extract_status: status } = await retrieved(actor, state);
  hold('no extraction is lost', status === 'success', { status });
}

/** Published, and the event of its upload has been handled. */
const publishActive = [
  begin,
  step(async (actor, state) => {
    await publish(actor, state, { node: { description: 'first', tags: ['kept'] } });
    await upload(actor, state, await demoArchive('1.0.0'));
  }),
  handled,
];

async function editNode(actor: Actor, state: State, body: object, headers = {}, ...accepted: number[]) {
  const path = { publisherId: String(state.publisher), nodeId: String(state.node) };
  return actor.call('update-node', { user: owner(state), path, body, headers }, ...accepted);
}

function hostNodePath(state: State): Record<string, string> {
  return { ...version(state), hostNodeName: demo.hostNodeName };
}

/** The node's file of the index, once the function that follows the table has heard of its changes. */
async function index(actor: Actor, state: State): Promise<string> {
  await handle(actor, state);
  const { DOWNLOAD_BASE_URL } = actor.stage.environment;
  const file = await fetch(`${DOWNLOAD_BASE_URL}/index/v1/nodes/${state.node}.json`);
  return file.status === 404 ? '' : file.text();
}

async function requireIndexed(actor: Actor, state: State): Promise<void> {
  const file = await index(actor, state);
  hold('no download is lost', file.includes('downloadUrl'), file);
}

const paidBody = (state: State) => ({ prompt: `for ${state.marker}`, model: 'vidq2-turbo', duration: 1 });

function pay(actor: Actor, state: State, options: { key?: string; body?: object; limitMs?: number } = {}) {
  const headers: Record<string, string> = options.key ? { 'idempotency-key': options.key } : {};
  const body = options.body ?? paidBody(state);
  const { limitMs = 29_000 } = options;
  return actor.send('text-to-video', { user: String(state.user), headers, body, limitMs });
}

function relight(actor: Actor, state: State): Promise<Answer> {
  const body = { image: 'https://example.com/a.png', prompt: `for ${state.marker}` };
  return actor.send('relight-image', { user: String(state.user), body });
}

function newPayer(state: State): void {
  state.user = `payer-${randomUUID()}`;
  state.marker = randomUUID();
  state.key = randomUUID();
}

/** Only what began in this process: a recorded state brings the number of tasks it had. */
function tasksOf(actor: Actor, state: State): number {
  const { received } = actor.stage.simulators.simulation;
  const mine = received.filter(
    ({ taskId, body }) => taskId && String(body.prompt).includes(String(state.marker)),
  );
  return mine.length;
}

function requireOnePayment(actor: Actor, state: State): void {
  hold('a key never pays twice', tasksOf(actor, state) + Number(state.paid ?? 0) === 1, {
    tasks: tasksOf(actor, state),
    before: state.paid,
  });
}

/** It doesn't compress to the size of one record, and needs no place in a recording. */
function largePayload(state: State): string {
  return Array.from({ length: 7000 }, (_, place) => hash('sha512', `${state.key}${place}`, 'base64')).join(
    '',
  );
}

/** The path of the address that the provider of the last task was given. */
function ticketOf(actor: Actor, state: State): string {
  const { received } = actor.stage.simulators.simulation;
  const task = received.find(({ body }) => String(body.prompt).includes(String(state.marker)));
  return String(task?.body.callback_url).split('/').at(-1) ?? '';
}

async function notify(actor: Actor, state: State, body: object): Promise<void> {
  const path = { provider: 'video', ticket: String(state.ticket) };
  await actor.call('receive-notification', { path, body });
}

/** Each notification that its receiver accepted, with what it said the last time. */
function notificationsOf(actor: Actor, state: State): Map<string, string> {
  const mine = actor.stage.notified.filter(({ path }) => path === `/${state.marker}`);
  return new Map(mine.map(({ id, body }) => [id, body]));
}

function requireNotifications(actor: Actor, state: State): void {
  const got = notificationsOf(actor, state);
  hold('every notification arrives', got.size + Number(state.notified ?? 0) === 2, [...got]);
  for (const [id, body] of got) {
    const said = JSON.parse(body);
    const isSame =
      said.task_id === state.task && said.state === (id.endsWith('_1') ? 'processing' : 'success');
    hold('a notification means the same', isSame, { id, said });
  }
}

async function usedBy(actor: Actor, { user }: State): Promise<{ tasks: number; credits: number }> {
  return (await actor.admin<{ used: { tasks: number; credits: number } }>('limit', 'show', `${user}`)).used;
}

async function requireLimit(actor: Actor, state: State, accepted: number): Promise<void> {
  const used = await usedBy(actor, state);
  hold('limits are exact', used.tasks === accepted && used.credits === accepted, { used, accepted });
  const list = await actor.admin<{ credits: number }[]>('usage', 'list', '--user', String(state.user));
  const sum = list.reduce((total, { credits }) => total + credits, 0);
  hold('limits are exact', sum === accepted, { sum, accepted });
}

/** Relights until the limit, one call more than it allows, and returns how many were accepted. */
async function spend(actor: Actor, state: State, calls: number): Promise<number> {
  const answers = await Promise.all(Array.from({ length: calls }, () => relight(actor, state)));
  for (const { status, body } of answers) hold('no 5xx', [200, 429].includes(status), { status, body });
  return answers.filter(({ status }) => status === 200).length;
}

const sweepSpending = alone((actor) => actor.schedule('sweep-spending', 6));

export const journeys: Record<string, readonly Step[]> = {
  'a publish': [
    begin,
    step(async (actor, state) => {
      state.key = randomUUID();
      state.version = (await publish(actor, state, { key: state.key })).body.node_version.id;
    }),
    step(async (actor, state) => {
      const { body, headers } = await publish(actor, state, { key: state.key });
      const isReplay = headers['idempotent-replayed'] === 'true' && body.node_version.id === state.version;
      hold('a kept answer is replayed', isReplay, { headers, body });
      await upload(actor, state, await demoArchive('1.0.0'));
    }),
    handled,
    step(requireDownload),
    handled,
    step(async (actor, state) => {
      await requireExtraction(actor, state);
      const path = hostNodePath(state);
      const { body } = await actor.call('update-host-node', { user: owner(state), path, body: {} });
      hold('no extraction is lost', body.function === 'load', body);
      await requireIndexed(actor, state);
    }),
  ],
  'uploads whose events were lost': [
    begin,
    step(async (actor, state) => {
      await publish(actor, state);
      await upload(actor, state, await demoArchive('1.0.0'));
      await actor.stage.events.lose('uploads', marksOf(state));
    }),
    alone(async (actor, state) => {
      await actor.schedule('finalize-upload', 5);
      await actor.stage.events.lose('extractions', marksOf(state));
    }),
    step(requireDownload),
    alone((actor) => actor.schedule('extract-host-nodes', 10)),
    step(async (actor, state) => {
      await handle(actor, state);
      await requireExtraction(actor, state);
      const { body } = await editNode(actor, state, {});
      hold('the latest version is named', body.latest_version?.version === '1.0.0', body);
    }),
  ],
  'a refused archive': [
    begin,
    step(async (actor, state) => {
      await publish(actor, state);
      await upload(actor, state, Buffer.from('this is no zip'));
    }),
    handled,
    step(async (actor, state) => {
      await requireNoDownload(actor, state);
      await publish(actor, state, { accepted: [200, 201] });
      await upload(actor, state, await demoArchive('1.0.0'));
    }),
    handled,
    step(requireDownload),
  ],
  'a banned version': [
    ...publishActive,
    step(async (actor, state) => {
      await requireIndexed(actor, state);
      await actor.admin('node-version', 'ban', String(state.node), '1.0.0', '--reason', 'Steals keys');
    }),
    step(async (actor, state) => {
      await requireNoDownload(actor, state);
      const file = await index(actor, state);
      hold('a ban holds', !file.includes('downloadUrl'), file);
    }),
    lifting(({ node }) => ['node-version', 'unban', `${node}`, '1.0.0']),
    step(async (actor, state) => {
      await requireDownload(actor, state);
      await requireIndexed(actor, state);
    }),
    operator(({ node }) => ['node-version', 'flag', `${node}`, '1.0.0', '--reason', 'Look at it']),
    step(requireDownload),
    operator(({ node }) => ['node-version', 'unflag', `${node}`, '1.0.0']),
    step(requireDownload),
  ],
  'a banned node and publisher': [
    ...publishActive,
    step(async (actor, state) => {
      await publish(actor, state, { label: '1.1.0' });
      await upload(actor, state, await demoArchive('1.1.0'));
    }),
    operator(({ node }) => ['node', 'ban', `${node}`, '--reason', 'Steals keys']),
    step(async (actor, state) => {
      await requireNoDownload(actor, state);
      await publish(actor, state, { label: '1.2.0', accepted: [403, 404, 409] });
      await handle(actor, state);
      await requireNoDownload(actor, state, '1.1.0');
    }),
    lifting(({ node }) => ['node', 'unban', `${node}`]),
    step(requireDownload),
    step(async (actor, state) => {
      // A sweep may have published the archive that the ban had stopped.
      const { status } = await publish(actor, state, { label: '1.1.0', accepted: [200, 201, 409] });
      if (status !== 409) {
        await upload(actor, state, await demoArchive('1.1.0'));
        await handle(actor, state);
      }
      await requireDownload(actor, state, '1.1.0');
    }),
    operator(({ publisher }) => ['publisher', 'ban', `${publisher}`, '--reason', 'Spam']),
    step(async (actor, state) => {
      await requireNoDownload(actor, state, '1.1.0');
      await publish(actor, state, { label: '1.3.0', accepted: [403, 404, 409] });
    }),
    lifting(({ publisher }) => ['publisher', 'unban', `${publisher}`]),
    step(async (actor, state) => void (await publish(actor, state, { label: '1.3.0' }))),
  ],
  'a revoked token': [
    begin,
    step(async (actor, state) => {
      await publish(actor, state);
      await upload(actor, state, await demoArchive('1.0.0'));
      const other = await actor.admin<Made>('token', 'create', String(state.publisher), '--label', 'leaked');
      state.leaked = other.token;
      state.leakedId = other.id;
    }),
    step(async (actor, state) => {
      await publish(actor, { ...state }, { label: '2.0.0', token: String(state.leaked) });
    }),
    operator(({ publisher, leakedId }) => ['token', 'revoke', `${publisher}`, `${leakedId}`]),
    step(async (actor, state) => {
      await publish(
        actor,
        { ...state },
        { label: '3.0.0', token: String(state.leaked), accepted: [401, 403] },
      );
      const tokens = await actor.admin<State[]>('token', 'list', String(state.publisher));
      const revoked = tokens.filter((token) => token.revoked_at !== undefined);
      hold('a revoked token stays revoked', revoked.length === 1, tokens);
    }),
    // What waits with another token is not refused.
    handled,
    step(requireDownload),
    step(async (actor, state) => {
      await publish(actor, state, { label: '2.0.0', accepted: [200, 201] });
      await upload(actor, state, await demoArchive('2.0.0'));
      await handle(actor, state);
      await requireDownload(actor, state, '2.0.0');
    }),
  ],
  'a trusted job': [
    begin,
    step(async (actor, state) => {
      state.repository = `octo/${state.id}`;
      const { CI_ISSUERS } = actor.stage.environment;
      const issuer = String(CI_ISSUERS?.split(' ')[1]);
      const words = ['--repository', state.repository, '--workflow', 'release.yml', '--issuer', issuer];
      state.trust = (await actor.admin<Made>('trust', 'add', String(state.publisher), ...words)).id;
    }),
    step(async (actor, state) => {
      state.idToken = actor.ciToken(String(state.repository));
      await publish(actor, state, { token: state.idToken });
      await upload(actor, state, await demoArchive('1.0.0'));
    }),
    step(async (actor, state) => {
      const used = { label: '1.1.0', token: String(state.idToken), accepted: [401, 403] };
      await publish(actor, { ...state }, used);
      await handle(actor, state);
    }),
    step(requireDownload),
    operator(({ publisher, trust }) => ['trust', 'remove', `${publisher}`, `${trust}`]),
    step(async (actor, state) => {
      const token = actor.ciToken(String(state.repository));
      await publish(actor, state, { label: '1.1.0', token, accepted: [401, 403] });
    }),
  ],
  'a paid key': [
    step(async (actor, state) => {
      newPayer(state);
      const { status, body } = await pay(actor, state, { key: String(state.key) });
      hold('a paid call is answered', status === 200, { status, body });
      state.task = body.task_id;
    }),
    ...[1, 2, 3].map(() =>
      step(async (actor, state) => {
        const { status, body } = await pay(actor, state, { key: String(state.key) });
        requireOnePayment(actor, state);
        hold('a kept answer is replayed', status === 200 && body.task_id === state.task, { status, body });
        const other = { ...paidBody(state), duration: 2 };
        const { status: mismatch } = await pay(actor, state, { key: String(state.key), body: other });
        hold('a key is of one request', mismatch >= 400 && mismatch < 500, { mismatch });
        requireOnePayment(actor, state);
      }),
    ),
  ],
  'a key with a large answer': [
    step(async (actor, state) => {
      newPayer(state);
      const body = { ...paidBody(state), payload: largePayload(state) };
      const { status } = await pay(actor, state, { key: String(state.key), body });
      hold('a paid call is answered', status === 200, { status });
    }),
    step(async (actor, state) => {
      const body = { ...paidBody(state), payload: largePayload(state) };
      const answer = await pay(actor, state, { key: String(state.key), body });
      requireOnePayment(actor, state);
      hold('a kept answer is replayed', answer.body.payload === body.payload, { status: answer.status });
    }),
  ],
  'a key whose answer was lost': [
    alone(async (actor, state) => {
      newPayer(state);
      actor.stage.simulators.simulation.misbehave({ kind: 'reset', provider: 'video' });
      const { status } = await pay(actor, state, { key: String(state.key) });
      hold('a lost answer is not called unsent', [502, 504].includes(status), { status });
    }),
    ...[1, 2].flatMap(() => [
      step(async (actor, state) => {
        const { status } = await pay(actor, state, { key: String(state.key) });
        requireOnePayment(actor, state);
        hold('a used key is refused', status === 409, { status });
      }),
      sweepSpending,
    ]),
    step(async (actor, state) => {
      const used = await usedBy(actor, state);
      hold('limits are exact', used.credits === 74 && used.tasks === 1, used);
    }),
  ],
  'a key in flight': [
    alone(async (actor, state) => {
      newPayer(state);
      actor.stage.simulators.simulation.misbehave({ kind: 'stall', provider: 'video' });
      // It is not awaited: the next step comes while the provider is silent.
      void pay(actor, state, { key: String(state.key), limitMs: 6000 }).catch(() => {});
      const { received } = actor.stage.simulators.simulation;
      const isSent = () => received.some(({ body }) => String(body.prompt).includes(String(state.marker)));
      for (let wait = 0; wait < 500 && !isSent(); wait += 1) await pause(10);
      hold('a paid call is sent', isSent(), {});
    }),
    step(async (actor, state) => {
      const { status } = await pay(actor, state, { key: String(state.key) });
      hold('a used key is refused', status === 409, { status });
      requireOnePayment(actor, state);
    }),
    sweepSpending,
    step(async (actor, state) => {
      const { status } = await pay(actor, state, { key: String(state.key) });
      hold('a used key is refused', status === 409, { status });
      requireOnePayment(actor, state);
    }),
  ],
  'a limit': [
    step(async (actor, state) => {
      newPayer(state);
      await actor.admin('limit', 'set', String(state.user), '--tasks-per-day', '4', '--credits-per-day', '7');
    }),
    step(async (actor, state) => hold('limits are exact', (await spend(actor, state, 1)) === 1, {})),
    step(async (actor, state) => hold('limits are exact', (await spend(actor, state, 2)) === 2, {})),
    step(async (actor, state) => hold('limits are exact', (await spend(actor, state, 3)) === 1, {})),
    step(async (actor, state) => {
      hold('limits are exact', (await spend(actor, state, 1)) === 0, {});
      await requireLimit(actor, state, 4);
    }),
    sweepSpending,
    step(async (actor, state) => {
      await requireLimit(actor, state, 4);
      await actor.admin('limit', 'set', String(state.user), '--tasks-per-day', '6');
    }),
    step(async (actor, state) => {
      hold('limits are exact', (await spend(actor, state, 3)) === 2, {});
      await actor.admin('caller', 'block', String(state.user), '--reason', 'Leaked');
    }),
    step(async (actor, state) => {
      const { status } = await relight(actor, state);
      hold('a ban holds', status === 403 || status === 429, { status });
      await actor.admin('caller', 'unblock', String(state.user));
    }),
    step(async (actor, state) => {
      await actor.admin('limit', 'set', String(state.user), '--tasks-per-day', '10');
      hold('limits are exact', (await spend(actor, state, 2)) === 1, {});
      await requireLimit(actor, state, 7);
    }),
  ],
  'edits of people': [
    ...publishActive,
    step(async (actor, state) => {
      const body = { description: 'mine' };
      await actor.call('update-host-node', { user: owner(state), path: hostNodePath(state), body });
      await requireDownload(actor, state);
    }),
    handled,
    step(async (actor, state) => {
      const path = hostNodePath(state);
      const { body } = await actor.call('update-host-node', { user: owner(state), path, body: {} });
      hold('no edit is lost', body.description === 'mine' && body.function === 'load', body);
      const { headers } = await editNode(actor, state, { description: 'second' });
      state.etag = String(headers.etag ?? headers.ETag);
    }),
    step(async (actor, state) => {
      const { body } = await editNode(
        actor,
        state,
        { icon: 'https://example.com/a.png' },
        { 'if-match': state.etag },
      );
      hold('no edit is lost', body.description === 'second' && body.tags[0] === 'kept', body);
      await editNode(actor, state, { description: 'stale' }, { 'if-match': state.etag }, 412);
    }),
    step(async (actor, state) => {
      await publish(actor, state, { label: '1.1.0' });
      await upload(actor, state, await demoArchive('1.1.0'));
      await handle(actor, state);
    }),
    step(async (actor, state) => {
      const { body } = await editNode(actor, state, { status: 'NodeStatusDeleted' });
      hold('no edit is lost', body.description === 'second' && body.icon !== undefined, body);
    }),
    step(async (actor, state) => {
      const { body } = await editNode(actor, state, { status: 'NodeStatusActive' });
      hold(
        'no edit is lost',
        body.description === 'second' && body.latest_version?.version === '1.1.0',
        body,
      );
      const history = await actor.admin<object[]>('history', 'node', String(state.node));
      hold('no edit is lost', history.length >= 2, history);
    }),
  ],
  'a notification': [
    step(async (actor, state) => {
      newPayer(state);
      const callback_url = `${actor.stage.receiverUrl}/${state.marker}`;
      const { status, body, headers } = await pay(actor, state, {
        body: { ...paidBody(state), callback_url },
      });
      hold('a paid call is answered', status === 200, { status, body });
      state.task = body.task_id;
      state.ticket = ticketOf(actor, state);
      state.status = String(/<([^>]+)>/.exec(String(headers.link ?? headers.Link))?.[1]);
    }),
    step(async (actor, state) => {
      await notify(actor, state, { id: state.task, state: 'processing' });
      await actor.stage.events.lose('notifications', marksOf(state));
    }),
    alone((actor) => actor.schedule('deliver-notifications', 12)),
    handled,
    step((actor, state) => {
      const creations = [{ id: `${state.task}-1`, url: 'https://example.com/film.mp4' }];
      return notify(actor, state, { id: state.task, state: 'success', creations });
    }),
    step(async (actor, state) => {
      await notify(actor, state, { id: state.task, state: 'processing' });
      // A recorded state has lost its messages.
      await actor.schedule('deliver-notifications', 24);
      await handle(actor, state);
    }),
    step(async (actor, state) => {
      await actor.schedule('deliver-notifications', 24);
      await actor.stage.events.settle(() => actor, { marks: marksOf(state) });
      requireNotifications(actor, state);
      const shown = (await (await fetch(String(state.status))).json()) as State;
      hold('a status is shown', shown.state === 'success', shown);
    }),
  ],
};

/** What the next process can't count: the payments and notifications that the recorded steps have caused. */
export function remember(actor: Actor, state: State): void {
  if (state.marker === undefined) return;
  state.paid = String(tasksOf(actor, state) + Number(state.paid ?? 0));
  state.notified = String(notificationsOf(actor, state).size + Number(state.notified ?? 0));
}
