import { createHmac, createSign, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { rejections as sentences } from '../../lib/auth/ci-tokens.ts';
import { addTrust, type NewTrust, removeTrust } from '../../lib/registry/trusts.ts';
import {
  audience,
  type Claims,
  createKey,
  encode,
  gitHub,
  gitHubClaims,
  gitHubToken,
  gitLab,
  gitLabClaims,
  gitLabToken,
  sign,
} from '../support/ci.ts';
import { lines } from '../support/logged-lines.ts';
import { type Publication, publishAlone } from '../support/publish.ts';
import { addPublisher, storedNode, soon } from '../support/registry.ts';
import { bearer } from '../support/tokens.ts';

/** Tokens that must publish nothing, each with the sentence that its job can act on. */

const now = Math.floor(Date.now() / 1000);
const stranger = createKey(gitHub.key.kid);
const strangeJwk = stranger.publicKey.export({ format: 'jwk' });
const valid = gitHubToken();
const [validHeader = '', validClaims = '', validSignature = ''] = valid.split('.');
const publicPem = String(gitHub.key.publicKey.export({ type: 'spki', format: 'pem' }));

function hmac(secret: string): string {
  const input = `${encode({ alg: 'HS256', kid: gitHub.key.kid })}.${encode(gitHubClaims())}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

function raw(header: unknown, claims: unknown): string {
  const input = `${encode(header)}.${encode(claims)}`;
  return `${input}.${createSign('RSA-SHA256').update(input).sign(gitHub.key.privateKey, 'base64url')}`;
}

const header = { alg: 'RS256', kid: gitHub.key.kid };
const without = (...names: string[]) => Object.fromEntries(names.map((name) => [name, undefined]));

type Row = readonly [name: string, token: string];

const invalid: Record<keyof typeof sentences, readonly Row[]> = {
  malformed: [
    ['three letters', 'a.b.c'],
    ['a header that is no JSON', raw('{', gitHubClaims())],
    ['claims that are a list', raw(header, [gitHubClaims()])],
    ['an issuer that is a number', gitHubToken({ iss: 5 })],
    ['an expiry that is text', gitHubToken({ exp: '9999999999' })],
    ['a line end after it', `${valid}\n`],
    ['alg none without a signature', `${encode({ alg: 'none' })}.${validClaims}.`],
  ],
  unknown_issuer: [
    ['another issuer', gitHubToken({ iss: 'https://ci.example.com' })],
    ['the issuer over http', gitHubToken({ iss: gitHub.issuer.replace('https', 'http') })],
    ['a host that begins as the issuer does', gitHubToken({ iss: `${gitHub.issuer}.example.com` })],
    ['an issuer named as what every object has', gitHubToken({ iss: 'constructor' })],
    ['an access token of this registry', bearer('olga').slice('Bearer '.length)],
  ],
  bad_signature: [
    ['the key of a stranger under a known id', sign(gitHubClaims(), stranger)],
    ['a key that is in no key set', sign(gitHubClaims(), createKey('unknown'))],
    ['alg none', `${encode({ alg: 'none', kid: gitHub.key.kid })}.${validClaims}.${validSignature}`],
    ['HS256 with the public key as its secret', hmac(publicPem)],
    ['a key of its own in the header', sign(gitHubClaims(), stranger, { jwk: strangeJwk })],
    ['another algorithm in the header', sign(gitHubClaims(), gitHub.key, { alg: 'RS512' })],
    ['claims of another job', `${validHeader}.${encode(gitHubClaims({ run_id: '1' }))}.${validSignature}`],
    ['the key of GitLab for GitHub', sign(gitHubClaims(), gitLab.key)],
    ['the key of a stranger and an expired time', sign(gitHubClaims({ exp: now - 900 }), stranger)],
  ],
  expired: [
    ['a minute ago', gitHubToken({ exp: now - 60 })],
    ['a minute ago, and for another audience', gitHubToken({ exp: now - 60, aud: 'https://example.com' })],
  ],
  not_yet_valid: [['in a minute', gitHubToken({ nbf: now + 60 })]],
  wrong_audience: [
    ['another registry', gitHubToken({ aud: 'https://registry.example.org' })],
    ['the audience of access tokens', gitHubToken({ aud: 'node-registry' })],
    ['no audience', gitHubToken(without('aud'))],
    ['this registry and another', gitHubToken({ aud: [audience, 'https://example.com'] })],
    ['an address below this one', gitHubToken({ aud: `${audience}/v2` })],
  ],
  critical_header: [['a critical parameter', sign(gitHubClaims(), gitHub.key, { crit: ['exp'], exp: 1 })]],
  incomplete: [
    ...'exp jti repository repository_id repository_owner_id workflow_ref ref sha run_id event_name'
      .split(' ')
      .map((name): Row => [`no ${name}`, sign({ ...gitHubClaims(), [name]: undefined }, gitHub.key)]),
    ['an event that is a list', gitHubToken({ event_name: ['pull_request'] })],
    ['an environment that is an object', gitHubToken({ environment: { name: 'production' } })],
    ['half a character in its run', gitHubToken({ run_id: '\ud800' })],
    ['an expiry beyond all times', gitHubToken({ exp: 1e200 })],
    ['an empty id of the repository', gitHubToken({ repository_id: '' })],
    ['an id of the repository that is an object', gitHubToken({ repository_id: { id: '7100' } })],
    ['an id of the owner that is null', gitHubToken({ repository_owner_id: null })],
    ...'project_path project_id namespace_id ci_config_ref_uri pipeline_id pipeline_source sha jti'
      .split(' ')
      .map(
        (name): Row => [`no ${name}, of GitLab`, sign({ ...gitLabClaims(), [name]: undefined }, gitLab.key)],
      ),
    ['the claims of GitLab, of GitHub', sign(gitLabClaims({ iss: gitHub.issuer }), gitHub.key)],
  ],
  foreign_workflow: [
    ...[
      'octo/evil/.github/workflows/release.yml@refs/tags/v1.0.0',
      'octo/nodes/.github/workflows/release.yml@refs/heads/main',
      'octo/nodes/.github/workflows/release.yml@refs/tags/v1.0.0@refs/heads/main',
      'evil/octo/nodes/.github/workflows/release.yml@refs/tags/v1.0.0',
      ...'octo/nodes/.github/release.yml@refs/tags/v1.0.0 octo/nodes/.github/workflows/release.yml'.split(
        ' ',
      ),
      'release.yml',
    ].map((workflow_ref): Row => [workflow_ref, gitHubToken({ workflow_ref })]),
    ...[
      'gitlab.com/group/evil//.gitlab-ci.yml@refs/tags/v1.0.0',
      'gitlab.com/evil/group/sub/nodes//.gitlab-ci.yml@refs/tags/v1.0.0',
      'gitlab.example.com/group/sub/nodes//.gitlab-ci.yml@refs/tags/v1.0.0',
    ].map((ci_config_ref_uri): Row => [ci_config_ref_uri, gitLabToken({ ci_config_ref_uri })]),
  ],
  pull_request: [
    ...['pull_request', 'pull_request_target', 'pull_request_review_comment', 'PULL_REQUEST'].map(
      (event_name): Row => [`the event ${event_name}`, gitHubToken({ event_name })],
    ),
    ['the ref of a merge queue', gitHubToken({ ref: 'refs/heads/gh-readonly-queue/main/pr-7-a' })],
    ['the ref of a merged pull request', gitHubToken({ ref: 'refs/pull/7/merge' })],
    ['the ref of the head of a pull request', gitHubToken({ ref: 'refs/pull/7/head', event_name: 'push' })],
    ['the branch of a pull request', gitHubToken({ head_ref: 'feature', event_name: 'workflow_call' })],
    ...['merge_request_event', 'external_pull_request_event'].map(
      (pipeline_source): Row => [`the pipeline source ${pipeline_source}`, gitLabToken({ pipeline_source })],
    ),
    ...['refs/merge-requests/7/head', 'refs/merge-requests/7/merge', 'refs/pull/7/head'].map(
      (ref_path): Row => [`the ref ${ref_path}, of GitLab`, gitLabToken({ ref_path })],
    ),
  ],
};

const github = (repository: string) => ({ issuer: gitHub.issuer, repository, workflow: 'release.yml' });

const operator = { operator: 'admin' };
const trust = (wanted: NewTrust, publisherId = 'acme') => addTrust(soon(), operator, publisherId, wanted);

const shared = 'octo/ci/.github/workflows/publish.yml';

beforeAll(async () => {
  await addPublisher('acme', { olga: 'owner' });
  await trust({ ...github('octo/shared'), job_workflow: `${shared}@refs/tags/v1` });
  await addPublisher('rival', { rita: 'owner' });
  await trust(github('octo/nodes'));
  await trust({ ...github('octo/nodes'), workflow: 'nightly.yml' });
  await trust({ ...github('octo/guarded'), environment: 'production' });
  await trust({ ...github('octo/single'), node_id: 'only-this' });
  await trust({ ...github('octo/tagged'), ref: 'refs/tags/v*' });
  await trust({ ...github('octo/branch'), ref: 'refs/heads/main' });
  await trust(github('octo/nodes'), 'rival');
  await trust(github('octo/rival'), 'rival');
  const { id } = await trust(github('octo/gone'));
  expect((await publish(gitHubToken({ repository: 'octo/gone' }), { nodeId: 'gone' })).status).toBe(201);
  await removeTrust(soon(), operator, 'acme', id);
  // From here on octo/nodes is the repository 7100 of the owner 650.
  expect((await publish(gitHubToken(), { nodeId: 'first' })).status).toBe(201);
});

type Target = Partial<Publication>;

function publish(token: string, { nodeId = 'target', ...target }: Target = {}) {
  return publishAlone({ nodeId, token, ...target });
}

async function expectRejection(token: string, reason: string, message: string, target: Target = {}) {
  const { status, body } = await publish(token, target);
  const line = lines().at(-1);

  expect([status, body.error]).toEqual([401, 'invalid_personal_access_token']);
  expect([body.message, line.reason]).toEqual([message, reason]);
  expect(await storedNode('target')).toBeUndefined();
}

describe.each(Object.entries(invalid) as [keyof typeof sentences, readonly Row[]][])(
  'a CI token with %s',
  (rejection, rows) => {
    test.each(rows)('rejects the job: %s', async (_, token) => {
      await expectRejection(token, `ci_token_${rejection}`, sentences[rejection]);
    });
  },
);

type Untrusted = readonly [what: string, message: string, changes: Claims];

const trusts = 'The publisher trusts this workflow';
const file = (name: string) => `octo/nodes/.github/workflows/${name}@refs/tags/v1.0.0`;
const notIts = (name: string) => `The publisher trusts octo/nodes, but not its workflow file ${name}.`;
const replaced =
  'octo/nodes is not the repository that was trusted: its id or the id of its owner has changed.';
const otherShared = `${shared}@refs/heads/main`;

const untrusted: Record<string, readonly Untrusted[]> = {
  // Another repository, the same name of another owner, one that begins alike, and one of another publisher's.
  untrusted_repository: ['octo/other', 'evil/nodes', 'octo/nodes2', 'octo/renamed', 'octo/rival'].map(
    (repository): Untrusted => [
      repository,
      `The publisher does not trust the repository ${repository} of ${gitHub.issuer}.`,
      { repository },
    ],
  ),
  untrusted_workflow: [
    ...['ci.yml', 'release.yml@evil.yml', 'Release.yml'].map(
      (name): Untrusted => [name, notIts(name), { workflow_ref: file(name) }],
    ),
    [
      'one that only calls the trusted one',
      notIts('pull.yml'),
      { workflow_ref: file('pull.yml'), job_workflow_ref: file('release.yml') },
    ],
  ],
  untrusted_job_workflow: [
    [
      otherShared,
      `${trusts} if it uses another one, and the job uses ${otherShared}.`,
      { repository: 'octo/shared', job_workflow_ref: otherShared },
    ],
  ],
  untrusted_environment: [
    ['none', `${trusts} only in an environment, and the job has none.`, { repository: 'octo/guarded' }],
    ...['staging', 'Production', 'production '].map(
      (environment): Untrusted => [
        JSON.stringify(environment),
        `${trusts}, but not in the environment ${environment}.`,
        { repository: 'octo/guarded', environment },
      ],
    ),
  ],
  untrusted_ref: [
    ...['refs/heads/main', 'refs/tags/1.0.0', 'refs/heads/refs/tags/v1'].map((ref) => ['tagged', ref]),
    ...['refs/heads/main2', 'refs/tags/main', 'refs/heads/Main'].map((ref) => ['branch', ref]),
  ].map(([name, ref]) => [
    `${ref} of ${name}`,
    `${trusts}, but not for ${ref}.`,
    { repository: `octo/${name}`, ref },
  ]),
  untrusted_event: ['merge_group', 'workflow_run', 'issue_comment', 'Push'].map(
    (event_name): Untrusted => [
      event_name,
      `${trusts}, but not for the event ${event_name}.`,
      { event_name },
    ],
  ),
  untrusted_node: [['another', `${trusts} only for another node.`, { repository: 'octo/single' }]],
  repository_replaced: [
    ['a new one of that name', replaced, { repository_id: '7101' }],
    ['one of another owner', replaced, { repository_owner_id: '651' }],
    ['one by a trust without ids', replaced, { repository_id: '7101', workflow_ref: file('nightly.yml') }],
  ],
  trust_revoked: [
    ['one that was removed', 'The publisher no longer trusts this workflow.', { repository: 'octo/gone' }],
  ],
};

test('accepts an unusual event that the trust names, and the usual ones', async () => {
  const repository = 'octo/evented';
  await trust({ ...github(repository), event: 'workflow_run' });
  const events = 'workflow_run push release workflow_dispatch schedule create issue_comment'.split(' ');
  const statuses: number[] = [];
  for (const [place, event_name] of events.entries()) {
    const { status } = await publish(gitHubToken({ repository, event_name }), { nodeId: `evented-${place}` });
    statuses.push(status);
  }

  expect(statuses).toEqual([201, 201, 201, 201, 201, 201, 401]);
});

describe.each(Object.entries(untrusted))('a valid token with %s', (reason, rows) => {
  test.each(rows)('publishes nothing: %s', async (_, message, changes) => {
    await expectRejection(gitHubToken(changes), `ci_${reason}`, message);
  });
});

test('rejects a project of GitLab with the name of a trusted repository of GitHub', async () => {
  const message = `The publisher does not trust the repository octo/nodes of ${gitLab.issuer}.`;

  await expectRejection(gitLabToken({ project_path: 'octo/nodes' }), 'ci_untrusted_repository', message);
});

describe('a used token', () => {
  const message = 'The CI token was used for another node version; let the job request a new one.';

  test.each<[string, Target, Claims?]>([
    ['for another version', { nodeId: 'spent', version: '1.0.1' }],
    ['for other build metadata', { nodeId: 'spent', version: '1.0.0+cu121' }],
    ['for another node', {}],
    ['with its id and another claim', {}, { run_id: '1' }],
    ['at another publisher who trusts the same job', { publisherId: 'rival' }],
  ])('publishes nothing %s', async (_, target, changes = {}) => {
    const jti = randomUUID();
    const first = await publish(gitHubToken({ jti }), { nodeId: 'spent' });

    expect(first.status).toBe(201);
    await expectRejection(gitHubToken({ jti, ...changes }), 'ci_token_used', message, target);
  });
});
