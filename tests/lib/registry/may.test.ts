import { globSync, readFileSync } from 'node:fs';
import { beforeAll, expect, jest, test } from '@jest/globals';
import { hashPersonalAccessToken } from '@node-registry/registry-rules/personal-access-tokens';
import { stopDate } from '@node-registry/testing/clock';
import { handler as bulk } from '../../../functions/bulk-node-versions.ts';
import { handler as publishVersion } from '../../../functions/publish-node-version.ts';
import { handler as updateHostNode } from '../../../functions/update-host-node.ts';
import { handler as updateNode } from '../../../functions/update-node.ts';
import { loadContracts } from '../../../infra/operations.ts';
import { restoreVersion, withdrawVersion } from '../../../lib/registry/edit-version.ts';
import { obstacleTo } from '../../../lib/registry/finalizing.ts';
import { nodeVersionRecord } from '../../../lib/registry/records.ts';
import type { Action } from '../../../lib/registry/may.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { nodeVersionKey } from '../../../lib/store/keys.ts';
import { setPublisherBan } from '../../../lib/registry/bans.ts';
import { movePublisher } from '../../../lib/registry/moves.ts';
import { createToken, revokeToken } from '../../../lib/registry/tokens.ts';
import { addTrust, removeTrust } from '../../../lib/registry/trusts.ts';
import * as versions from '../../../tools/admin/registry/node-versions.ts';
import { blockCaller } from '../../../tools/admin/spend/limits.ts';
import { errorsOf } from '../../../tools/openapi/answers.ts';
import { gitHub, gitHubToken } from '../../support/ci.ts';
import { intercept } from '../../support/intercept.ts';
import { type Handler, invoke } from '../../support/invoke.ts';
import {
  addNode,
  addPublisher,
  addVersion,
  setFields,
  setPublisherFields,
  storedItem,
  soon,
} from '../../support/registry.ts';
import { differences, readTable, restoreTable, type TableImage } from '../../support/table-image.ts';
import { bearer } from '../../support/tokens.ts';
import { setVariables } from '../../support/variables.ts';

/*
 * The table of lib/registry/may.ts, crossed with every actor and state through the handlers. The snapshot has
 * every answer: read its diff as a change of who may do what.
 */

jest.setTimeout(180_000);
setVariables({ PUBLISH_ACCESS_TOKEN: 'optional' });

const operator = { operator: 'admin' };
const dayMs = 24 * 60 * 60 * 1000;
/** A user may be named like a property of every object. */
const members = { olga: 'owner', mats: 'member', bo: 'owner' } as const;
const person = (userId: string, isAdmin = false) => {
  return { userId, isAdmin, authorization: bearer(userId, { admin: isAdmin }) };
};
const people = {
  'no person': undefined,
  stranger: person('constructor'),
  member: person('mats'),
  owner: person('olga'),
  admin: person('ada', true),
  blocked: person('bo', true),
} as const;
const everyone = Object.keys(people) as (keyof typeof people)[];

const nodes = {
  active: 'NodeStatusActive',
  withdrawn: 'NodeStatusDeleted',
  banned: 'NodeStatusBanned',
  'a.b': 'NodeStatusActive',
} as const;
/** The node of a path, by its publisher; `a-b` shares its record with `a.b`. */
const nodeKinds = ['active', 'ACTIVE', 'withdrawn', 'banned', 'a-b', 'absent'] as const;

const labels = {
  '1.0.0': { status: 'NodeVersionStatusActive' },
  '1.1.0': { status: 'NodeVersionStatusPending', upload_id: 'u' },
  '1.2.0': { status: 'NodeVersionStatusFlagged' },
  '1.3.0': { status: 'NodeVersionStatusBanned', bans: { version: 'malware' } },
  '1.4.0': { status: 'NodeVersionStatusDeleted' },
  '1.5.0': { status: 'NodeVersionStatusPending', label: '1.5' },
  '1.6.0': { status: 'NodeVersionStatusActive', host_node_extract_status: 'success' },
  '1.7.0': { status: 'NodeVersionStatusActive', pending_shard: 'extract-given-up', tries: 6 },
} as const;

const tokens: Record<string, string> = {};
const job = { issuer: gitHub.issuer, repository: 'octo/nodes', workflow: 'release.yml' };
const credentials: Record<string, (publisher: string) => string> = {
  'a token': (publisher) => String(tokens[`${publisher} good`]),
  'a revoked token': (publisher) => String(tokens[`${publisher} revoked`]),
  'an expired token': (publisher) => String(tokens[`${publisher} expired`]),
  'a token of another publisher': () => String(tokens['theirs good']),
  'a trusted job': () => gitHubToken(),
  'a job no longer trusted': () => gitHubToken({ repository: 'octo/former' }),
  'a job of a stranger': () => gitHubToken({ repository: 'octo/evil' }),
};

let before: TableImage;

beforeAll(async () => {
  for (const id of ['mine', 'shut', 'theirs']) {
    await addPublisher(id, id === 'theirs' ? { rita: 'owner' } : members);
    for (const [name, days] of [
      ['good', 1],
      ['revoked', 1],
      ['expired', -1],
    ] as const)
      await addTokenOf(id, name, days);
    await addTrust(soon(), operator, id, job);
    const former = await addTrust(soon(), operator, id, { ...job, repository: 'octo/former' });
    await removeTrust(soon(), operator, id, former.id);
    for (const [kind, status] of Object.entries(nodes)) await addNodeOf(id, `${id}-${kind}`, status);
  }
  for (const [id, daysAgo] of [
    ['former', 89],
    ['long-ago', 91],
  ] as const) {
    await addPublisher(id, {});
    const moved_at = new Date(Date.now() - daysAgo * dayMs).toISOString();
    await setPublisherFields(id, { moved_to: 'mine', moved_at });
  }
  await addNode('gone', 'gone-active');
  await addVersion('gone', 'gone-active', '1.0.0');
  await setPublisherFields('shut', { banned: true });
  // All callers without an access token; one with a token of its publisher is not among them.
  for (const caller of ['user:bo', 'anonymous']) await blockCaller(operator, caller, 'leaked');
  before = await readTable();
});

async function addTokenOf(publisherId: string, label: string, days: number): Promise<void> {
  const expires_at = new Date(Date.now() + days * dayMs).toISOString();
  const { record, token } = await createToken(soon(), operator, { publisherId, label, expires_at });
  tokens[`${publisherId} ${label}`] = token;
  if (label === 'revoked') await revokeToken(soon(), operator, publisherId, record.id);
}

async function addNodeOf(publisherId: string, nodeId: string, status: string): Promise<void> {
  await addNode(publisherId, nodeId, { status, tags_admin: ['watched'] });
  const token_hash = hashPersonalAccessToken(String(tokens[`${publisherId} good`]));
  for (const [label, fields] of Object.entries(labels))
    await addVersion(publisherId, nodeId, label, {
      token_hash,
      host_node_extract_status: 'pending',
      ...fields,
    });
  for (const label of ['1.0.0', '1.6.0'])
    for (const [hostNodeName, policy] of [
      ['free', 'HostNodePolicyActive'],
      ['barred', 'HostNodePolicyBanned'],
    ])
      await invoke(updateHostNode, 'update-host-node', {
        path: { nodeId, version: label, hostNodeName: String(hostNodeName) },
        body: { policy },
        headers: { authorization: people.admin.authorization },
      });
}

const contracts = await loadContracts();

/** Calls a function; the answer names what a rejected request wrote. */
async function answerOf(work: () => Promise<{ status: number | string; sentence: string }>): Promise<string> {
  let writes = 0;
  const remove = intercept(dynamodb, ({ command, send }) => {
    writes += Number(/^(Put|Update|Delete|Transact)/.test(command));
    return send();
  });
  const { status, sentence } = await work().finally(remove);
  const changed = writes > 0 ? await undo() : [];
  if (status === 200 || status === 201) return String(status);
  return `${status} ${sentence}${changed.length > 0 ? `, changed ${changed.join()}` : ''}`;
}

/** The keys of what was changed since the beginning. */
async function undo(): Promise<string[]> {
  const now = await readTable();
  await restoreTable(before, now);
  return differences(before, now);
}

function request(
  name: string,
  handler: Handler,
  path: Record<string, string>,
  body: object,
  who: keyof typeof people,
) {
  return answerOf(async () => {
    const headers = { authorization: people[who]?.authorization };
    const { status, body: answer } = await invoke(handler, name, { path, body, headers });
    if (status >= 300) {
      const contract = contracts.find(
        (each) => name === each.name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      );
      if (contract) expect(errorsOf(contract)).toContain(answer.error);
    }
    const [detail] = answer.details ?? [];
    const fields = detail ? ` (${detail.path} ${detail.message})` : '';
    return { status, sentence: `${answer.error}: ${answer.message}${fields}` };
  });
}

const through = ['mine', 'shut', 'theirs', 'gone', 'former', 'long-ago'];
/** Through these, one kind shows the answer. */
const kindsOf = (publisher: string) =>
  ['gone', 'former', 'long-ago'].includes(publisher) ? (['active'] as const) : nodeKinds;

type Ask = (who: keyof typeof people) => Promise<string>;
type States = Record<string, Ask>;

const update =
  (publisherId: string, nodeId: string, body: object): Ask =>
  (who) =>
    request('update-node', updateNode, { publisherId, nodeId }, body, who);

/** A request for every node of a path, through every publisher. */
function across(askFor: (publisherId: string, nodeId: string) => Ask, publishers = through): States {
  const states: States = {};
  for (const publisher of publishers) {
    const own = publisher === 'shut' || publisher === 'theirs' ? publisher : 'mine';
    for (const kind of kindsOf(publisher))
      states[`${publisher}, ${kind}`] = askFor(publisher, `${own}-${kind}`);
    const another = own === 'theirs' ? 'mine-active' : 'theirs-active';
    states[`${publisher}, of another`] = askFor(publisher, another);
  }
  return states;
}

const updates = (body: object, publishers = through) =>
  across((publisher, node) => update(publisher, node, body), publishers);

const few = ['mine', 'shut'];

function publish(
  publisherId: string,
  nodeId: string,
  version: string,
  fields = {},
  token = 'a token',
  node = {},
): Ask {
  const personal_access_token = () =>
    credentials[token]?.(publisherId.replace(/former|long-ago|gone/, 'mine'));
  return (who) =>
    request(
      'publish-node-version',
      publishVersion,
      { publisherId, nodeId },
      { personal_access_token: personal_access_token(), node, node_version: { version, ...fields } },
      who,
    );
}

function publishes(): States {
  const states = across((publisher, node) => publish(publisher, node, '9.9.9'));
  for (const token of Object.keys(credentials))
    for (const place of ['mine-banned', 'shut-active'])
      states[`${place} with ${token}`] = publish(place.split('-', 1).join(), place, '9.9.9', {}, token);
  return states;
}

function publishesOf(fields: object): States {
  const states: States = {};
  for (const place of ['mine-active', 'mine-banned'])
    for (const label of [...Object.keys(labels), 'v1.0', 'v1.1.0', '1.5'])
      states[`${place} ${label}`] = publish(place.split('-', 1).join(), place, label, fields);
  return states;
}

const hostNodePlaces = [
  ...nodeKinds.map((kind) => `mine-${kind}`),
  'shut-active',
  'shut-banned',
  'gone-active',
];

function hostNodes(
  names: readonly string[],
  body: object,
  places = ['mine-active', 'mine-banned', 'shut-active'],
  versions = ['1.0.0', '1.6.0'],
): States {
  const states: States = {};
  for (const nodeId of places)
    for (const version of versions)
      for (const hostNodeName of names)
        states[`${nodeId} ${version} ${hostNodeName}`] = (who) =>
          request(
            'update-host-node',
            updateHostNode,
            { nodeId, version, hostNodeName },
            { category: 'c', ...body },
            who,
          );
  return states;
}

/** An act of the administration, which takes no person. */
const operate =
  (work: () => Promise<unknown>): Ask =>
  () =>
    answerOf(() =>
      work().then(
        () => ({ status: 200, sentence: '' }),
        (error: Error) => ({ status: 'rejected', sentence: error.message }),
      ),
    );

const ofVersions = (work: (nodeId: string, version: string) => Promise<unknown>): States =>
  Object.fromEntries(Object.keys(labels).map((label) => [label, operate(() => work('mine-active', label))]));

/** An owner's change of a version's withdrawal, through every publisher and of every state. */
function withdrawals(change: typeof withdrawVersion): States {
  const places = [
    ...['mine', 'shut', 'gone', 'former', 'long-ago'].map((publisher) => `${publisher}, mine-active 1.0.0`),
    ...['banned', 'withdrawn', 'absent'].map((kind) => `mine, mine-${kind} 1.0.0`),
    ...['mine, theirs-active 1.0.0', 'shut, shut-active 1.0.0', 'shut, shut-banned 1.0.0'],
    ...[...Object.keys(labels), '9.9.9'].map((label) => `mine, mine-active ${label}`),
  ];
  const askAt = (place: string): Ask => {
    const [publisherId = '', nodeId = '', label = ''] = place.split(/,? /);
    const named = { publisherId, nodeId, versionId: `${nodeId}-${label}` };
    return (who) => operate(() => change(soon(), { ...named, by: people[who] ?? operator }))(who);
  };
  return Object.fromEntries(places.map((place) => [place, askAt(place)]));
}

/** What the service finds when an archive has arrived. */
function activations(): States {
  const states: States = {};
  for (const nodeId of [...Object.keys(nodes).map((kind) => `mine-${kind}`), 'shut-active', 'shut-banned'])
    for (const name of ['good', 'revoked', 'expired', 'none'])
      states[`${nodeId} ${name} token`] = async () => {
        const [publisher] = nodeId.split('-', 1);
        const token_hash = hashPersonalAccessToken(tokens[`${publisher} ${name}`] ?? 'none');
        await setFields(nodeVersionKey(nodeId, '1.1.0'), { token_hash });
        const version = nodeVersionRecord(await storedItem(nodeVersionKey(nodeId, '1.1.0')));
        const found = version && (await obstacleTo(soon(), version));
        await undo();
        if (typeof found === 'string') return found;
        return found ? `${found.status_reason_code}: ${found.status_reason}` : 'awaited';
      };
  return states;
}

/** What people do for themselves is crossed in tests/functions/self-service.test.ts. */
const ofPeople = [
  ...(['create publisher', 'edit publisher', 'see publisher', 'see all of publisher'] as const),
  ...(['create token', 'revoke token', 'add trust', 'end trust', 'change member'] as const),
  'edit own version' as const,
  ...(['leave publisher', 'invite member', 'withdraw invitation', 'accept invitation'] as const),
];
type Crossed = Exclude<Action, (typeof ofPeople)[number]>;

const ways: Record<Crossed, { who?: readonly (keyof typeof people)[]; states: States }> = {
  'read versions': {
    states: {
      any: (who) =>
        request(
          'bulk-node-versions',
          bulk,
          {},
          { node_versions: [{ node_id: 'shut-banned', version: '1.0.0' }] },
          who,
        ),
    },
  },
  'update node': { states: updates({ author: 'a' }) },
  'withdraw node': { states: updates({ status: 'NodeStatusDeleted' }, few) },
  'restore node': { states: updates({ status: 'NodeStatusActive' }, few) },
  "change an admin's field": {
    states: {
      ...updates({ tags_admin: ['x'] }, few),
      'of a new version': publish('mine', 'mine-active', '9.9.9', { tags_admin: ['x'] }),
      'of a publish': publish('mine', 'mine-active', '9.9.9', {}, 'a token', { tags_admin: ['x'] }),
    },
  },
  'ban or unban node': {
    states: {
      ...updates({ status: 'NodeStatusBanned' }, few),
      'by its reason': update('mine', 'mine-banned', { status_detail: 'other' }),
      'by a publish': publish('mine', 'mine-active', '9.9.9', {}, 'a token', { status: 'NodeStatusBanned' }),
    },
  },
  'publish version': { states: publishes() },
  'resume version': { states: publishesOf({ supported_os: ['linux'] }) },
  'edit version': { states: publishesOf({ deprecated: true }) },
  // Without a person, the operator.
  'withdraw version': { states: withdrawals(withdrawVersion) },
  'restore version': { states: withdrawals(restoreVersion) },
  'flag or unflag version': {
    who: ['no person'],
    states: {
      ...ofVersions((...version) => versions.setFlag(operator, ...version, 'odd')),
      ...ofVersions((...version) => versions.setFlag(operator, ...version, undefined)),
    },
  },
  'move publisher': {
    who: ['no person'],
    states: Object.fromEntries(
      ['mine', 'shut', 'gone', 'former', 'long-ago'].map((from) => [
        from,
        operate(() => movePublisher(soon(), operator, 'merge', from, 'theirs')),
      ]),
    ),
  },
  'ban or unban publisher': {
    who: ['no person'],
    states: Object.fromEntries(
      ['mine', 'shut', 'gone', 'former'].map((id) => [
        id,
        operate(() => setPublisherBan(soon(), operator, id, 'odd')),
      ]),
    ),
  },
  'activate version': { who: ['no person'], states: activations() },
  'update host node': { states: hostNodes(['free'], {}, hostNodePlaces, ['1.0.0', '9.9.9', 'nightly']) },
  'ban or unban host node': { states: hostNodes(['free', 'barred'], { policy: 'HostNodePolicyBanned' }) },
  'add host node': { states: hostNodes(['fre', 'other'], {}) },
};

test.each(Object.keys(ways) as Crossed[])('who may %s, in every state', async (action) => {
  stopDate();
  const { who = everyone, states } = ways[action];
  const answers = new Map<string, string>();
  const rows: string[] = [];
  for (const [state, ask] of Object.entries(states)) {
    const cells: string[] = [];
    for (const person of who) {
      const answer = await ask(person);
      const letter = answers.get(answer) ?? String.fromCharCode(97 + answers.size);
      answers.set(answer, letter);
      cells.push(letter);
    }
    rows.push(`${cells.join(' ')}  ${state}`);
  }
  const legend = [...answers].map(([answer, letter]) => `${letter}: ${answer}`);

  expect([...legend, who.join(', '), ...rows].join('\n')).toMatchSnapshot();
  expect(differences(before, await readTable())).toEqual([]);
});

test('asks in the code for every row but reading, which anyone may', () => {
  const files = globSync('{lib,tools/admin}/**/*.ts').filter((file) => !file.endsWith('/may.ts'));
  const code = files.map((file) => readFileSync(file, 'utf8').replaceAll('"', "'")).join('');
  const rows = [...Object.keys(ways), ...ofPeople].filter((row) => row !== 'read versions');

  expect(rows.filter((row) => !code.includes(`'${row}'`))).toEqual([]);
});
