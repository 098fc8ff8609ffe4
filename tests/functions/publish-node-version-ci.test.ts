import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler as bulk } from '../../functions/bulk-node-versions.ts';
import { publishNodeVersion } from '../../lib/contracts/publish-node-version.ts';
import { nodeKey } from '../../lib/store/keys.ts';
import { listHistory } from '../../tools/admin/registry/administration.ts';
import { addTrust, listTrusts, type NewTrust, removeTrust } from '../../lib/registry/trusts.ts';
import { demoArchive } from '../../tools/local/demo-archive.ts';
import { type Claims, gitHub, gitHubToken, gitLab, gitLabToken } from '../support/ci.ts';
import { stopDate } from '@node-registry/testing/clock';
import { invoke } from '../support/invoke.ts';
import { lines, loggedLines } from '../support/logged-lines.ts';
import { type Publication, publishAlone } from '../support/publish.ts';
import { addPublisher, addToken, countRequests, storedNode, soon } from '../support/registry.ts';
import { bearer } from '../support/tokens.ts';
import { download, finalize, put, storedVersion, uploadAt } from '../support/uploads.ts';

const repository = 'octo/nodes';
const operator = { operator: 'admin' };
beforeAll(async () => {
  await addPublisher('acme', { olga: 'owner' });
  await trust(repository);
  const ofGitLab = { issuer: gitLab.issuer, repository: 'Group/Sub/Nodes', workflow: '.gitlab-ci.yml' };
  await addTrust(soon(), operator, 'acme', ofGitLab);
});

function trust(repository: string, more: Partial<NewTrust> = {}) {
  const wanted = { issuer: gitHub.issuer, repository, workflow: 'release.yml', ...more };
  return addTrust(soon(), operator, 'acme', wanted);
}

function publish({ token = gitHubToken(), ...publication }: Publication) {
  return publishAlone({ ...publication, token });
}

/** What the presigned address of an answer does, and what S3 then sets off. */
async function upload(answer: Awaited<ReturnType<typeof publish>>): Promise<void> {
  const arrived = uploadAt(answer.body.signedUrl);
  await put(arrived, demoArchive(arrived.version));
  await finalize(arrived);
}

const provenance = {
  issuer: gitHub.issuer,
  repository,
  commit: 'f'.repeat(40),
  ref: 'refs/tags/v1.0.0',
  workflow: 'release.yml',
  job_workflow: 'octo/nodes/.github/workflows/release.yml@refs/tags/v1.0.0',
  run: '4242',
};

describe('a publish with an ID token of a CI', () => {
  test('needs no stored secret: published, interrupted and resumed, and published again', async () => {
    const token = gitHubToken();
    const interrupted = await publish({ nodeId: 'from-ci', token });
    const resumed = await publish({ nodeId: 'from-ci', token, fields: { changelog: 'second try' } });
    await upload(resumed);
    const second = await publish({ nodeId: 'from-ci', version: '1.1.0' });
    await upload(second);

    expect([interrupted.status, resumed.status, second.status]).toEqual([201, 201, 201]);
    expect(publishNodeVersion.reply.parse(resumed.body)).toEqual(resumed.body);
    expect(resumed.body.node_version.id).toBe(interrupted.body.node_version.id);
    for (const version of ['1.0.0', '1.1.0']) {
      const stored = await storedVersion('from-ci', version);
      expect(stored).toMatchObject({ status: 'NodeVersionStatusActive', provenance });
      expect(await download(stored.downloadUrl)).toEqual(demoArchive(version));
    }
    const { latest_version } = (await storedNode('from-ci')) ?? {};
    expect(latest_version).toMatchObject({ version: '1.1.0', provenance });
  });

  test.each<[string, (token: string) => string | undefined]>([
    ['no Authorization header', () => undefined],
    ['the same token as the bearer', (token) => `Bearer ${token}`],
    ['the access token of a stranger', () => bearer('stranger')],
  ])('asks for no person: %s', async (_, authorizationOf) => {
    const token = gitHubToken();
    const headers = { authorization: authorizationOf(token) };
    const { status, body } = await publish({ nodeId: `alone-${randomUUID()}`, token, headers });

    expect([status, body.error]).toEqual([201, undefined]);
    expect(await storedVersion(body.node_version.node_id, '1.0.0')).not.toHaveProperty('published_by');
  });

  test('verifies another bearer that is sent, and gives no rights of an admin by it', async () => {
    const by = (authorization: string, fields = {}) =>
      publish({ nodeId: 'two-tokens', headers: { authorization }, fields });
    const byAdmin = await by(bearer('root', { admin: true }), { tags_admin: ['safe'] });

    expect((await by('Bearer a.b.c')).body.error).toBe('unauthorized');
    expect([byAdmin.status, byAdmin.body.error]).toEqual([403, 'forbidden']);
  });

  test('takes GitLab and its groups, and writes the case of names as the CI does', async () => {
    // An older GitLab names no path of the ref, and some write ids as numbers.
    const claims = { project_id: 22, pipeline_id: 900, ref_path: undefined, environment: 'production' };
    const { status, body } = await publish({ nodeId: 'from-gitlab', token: gitLabToken(claims) });
    const trusts = await listTrusts(soon(), 'acme');

    expect(status).toBe(201);
    expect(trusts).toContainEqual(expect.objectContaining({ repository_id: '22', owner_id: '7' }));
    expect(body.node_version.provenance).toEqual({
      issuer: gitLab.issuer,
      repository: 'group/sub/nodes',
      commit: 'a'.repeat(40),
      ref: 'refs/tags/v1.0.0',
      workflow: '.gitlab-ci.yml',
      run: '900',
      environment: 'production',
    });
  });

  const [environment, shared] = ['production', 'octo/ci/.github/workflows/publish.yml@refs/tags/v1'];

  test.each<[string, Partial<NewTrust>, Claims]>([
    ['tags', { ref: 'refs/tags/v*' }, { ref: 'refs/tags/v1.0.0' }],
    ['a branch', { ref: 'refs/heads/main' }, { ref: 'refs/heads/main' }],
    ['branches', { ref: 'refs/heads/*' }, { ref: 'refs/heads/release/1' }],
    ['one reusable workflow', { job_workflow: shared }, { job_workflow_ref: shared }],
    ['one environment', { environment }, { environment }],
  ])('takes a job if the trust names %s, and keeps what it ran for', async (named, more, claims) => {
    const repository = `octo/${named.replaceAll(' ', '-')}`;
    await trust(repository, more);
    const token = gitHubToken({ repository, ...claims });
    const { status, body } = await publish({ nodeId: repository.slice(5), token });

    expect(status).toBe(201);
    const { job_workflow_ref: job_workflow, ...others } = claims;
    expect(body.node_version.provenance).toMatchObject({
      ...others,
      ...(job_workflow !== undefined && { job_workflow }),
    });
  });

  test('answers the provenance in bulk, and none of a person that publishes over it, even if named', async () => {
    await publish({ nodeId: 'seen' });
    await publish({ nodeId: 'taken-over' });
    const token = await addToken('acme');
    const headers = { authorization: bearer('olga') };
    await publish({ nodeId: 'taken-over', token, headers, fields: { provenance } });
    const node_versions = ['seen', 'taken-over'].map((node_id) => ({ node_id, version: '1.0.0' }));
    const { body } = await invoke(bulk, 'bulk-node-versions', { body: { node_versions } });

    expect(JSON.stringify(body.node_versions[0].node_version.provenance)).toBe(JSON.stringify(provenance));
    expect(body.node_versions[1].node_version).not.toHaveProperty('provenance');
    expect(await storedVersion('taken-over', '1.0.0')).not.toHaveProperty('trust_id');
  });

  test('lets one token edit a published version, and then publish no other', async () => {
    const token = gitHubToken();
    await upload(await publish({ nodeId: 'one-token' }));
    const edited = await publish({ nodeId: 'one-token', token, fields: { deprecated: true } });
    const other = await publish({ nodeId: 'one-token', token, version: '2.0.0' });

    expect([edited.status, other.status]).toEqual([201, 401]);
    expect(await listHistory(nodeKey('one-token'))).toMatchObject([{ actor: `ci:${repository}` }]);
  });

  test.each([
    ['versions', () => 'at-once', (index: number) => `1.0.${index}`],
    ['nodes', (index: number) => `at-once-${index}`, () => '1.0.0'],
  ])('lets one token that is sent for several %s at once publish one', async (_, nodeOf, versionOf) => {
    const token = gitHubToken();
    const send = (place: number) => publish({ nodeId: nodeOf(place), version: versionOf(place), token });
    const answers = await Promise.all(Array.from({ length: 6 }, (_, place) => send(place)));

    const message = 'The CI token was used for another node version; let the job request a new one.';
    const said = answers.map(({ status, body }) => (status === 201 ? '' : body.message));
    expect(said.sort()).toEqual(['', ...Array(5).fill(message)]);
  });

  test('pins the ids of repository and owner with the first version, and none if that fails', async () => {
    const { id } = await trust('octo/new');
    const ids = async () => (await listTrusts(soon(), 'acme')).find((trust) => trust.id === id);
    const token = (changes: Claims = {}) =>
      gitHubToken({ repository: 'octo/new', repository_id: '81', ...changes });
    await addPublisher('rival', {});
    await publish({ nodeId: 'pinned', version: 'nightly', token: token() });
    const before = await ids();
    const { result: first, requests } = await countRequests(() =>
      publish({ nodeId: 'pinned', token: token() }),
    );

    expect(before).not.toHaveProperty('repository_id');
    // The use of the trust is written with its pin, after the entry of the version.
    expect(requests.slice(2)).toEqual(['UpdateItemCommand', 'TransactWriteItemsCommand']);
    expect(first.status).toBe(201);
    const pinned = { repository_id: '81', owner_id: '650', last_used_at: expect.any(String) };
    expect(await ids()).toMatchObject(pinned);
    expect((await publish({ nodeId: 'pinned', token: token({ repository_id: '82' }) })).status).toBe(401);
  });

  test('lets of two repositories that follow each other under one name only one be pinned', async () => {
    await trust('octo/raced');
    const send = (repository_id: string) => {
      const token = gitHubToken({ repository: 'octo/raced', repository_id });
      return publish({ nodeId: `raced-${repository_id}`, token });
    };
    const answers = await Promise.all(['91', '92', '93'].map(send));

    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401]);
  });

  test('replays an answer to its Idempotency-Key only while the token is valid', async () => {
    const token = gitHubToken();
    const key = { 'idempotency-key': randomUUID() };
    const first = await publish({ nodeId: 'replayed', token, headers: key });
    const replayed = await publish({ nodeId: 'replayed', token, headers: key });
    stopDate(Date.now() + 10 * 60_000);
    const late = await publish({ nodeId: 'replayed', token, headers: key });

    expect(replayed.body.node_version.id).toBe(first.body.node_version.id);
    expect(replayed.headers).toHaveProperty('idempotent-replayed');
    expect(late.body.message).toBe('The CI token has expired; let the job request a new one.');
  });

  test('writes which job published into the log line, and never the token', async () => {
    const token = gitHubToken();
    await publish({ nodeId: 'logged', token });

    expect(lines().at(-1)).toMatchObject({
      status: 201,
      ci_repository: repository,
      ci_run: '4242',
      trust_id: expect.any(String),
    });
    expect(loggedLines.join('\n')).not.toContain(token.slice(0, 40));
  });

  test('stays pending when its trust is removed before the archive arrives, even if the trust is added again', async () => {
    const { id } = await trust('octo/back');
    const token = () => gitHubToken({ repository: 'octo/back' });
    const answer = await publish({ nodeId: 'back', token: token() });
    await removeTrust(soon(), operator, 'acme', id);
    await trust('octo/back');
    await upload(answer);
    const before = await storedVersion('back', '1.0.0');
    await upload(await publish({ nodeId: 'back', token: token() }));

    expect(before).toMatchObject({
      status: 'NodeVersionStatusPending',
      status_reason_code: 'trust_revoked',
      status_reason: expect.stringContaining('no longer trusts the workflow that published it'),
    });
    expect(before).not.toHaveProperty('downloadUrl');
    expect((await storedVersion('back', '1.0.0')).status).toBe('NodeVersionStatusActive');
  });
});
