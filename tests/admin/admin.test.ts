import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { hashPersonalAccessToken } from '@node-registry/registry-rules/personal-access-tokens';
import { handler as publish } from '../../functions/publish-node-version.ts';
import { memberIdOf } from '../../lib/caller.ts';
import { dynamodb, tableName } from '../../lib/store/dynamodb.ts';
import { addTrust, removeTrust } from '../../lib/registry/trusts.ts';
import { absent } from '../../lib/store/items.ts';
import { personalAccessTokenKey, trustKey } from '../../lib/store/keys.ts';
import { putting, write } from '../../lib/store/write.ts';
import { admin, adminJson, limitPages } from '../support/admin.ts';
import { invoke } from '../support/invoke.ts';
import { addNode, addPublisher, addToken, addVersion, storedItem, soon } from '../support/registry.ts';
import { bearer } from '../support/tokens.ts';
import '../support/in-order.ts';

beforeAll(async () => {
  await addPublisher('acme', { olga: 'owner', mats: 'member' });
});

function publishWith(personalToken: string, nodeId: string, version = '1.0.0') {
  return invoke(publish, 'publish-node-version', {
    path: { publisherId: 'acme', nodeId },
    headers: { authorization: bearer('mats') },
    body: { personal_access_token: personalToken, node: {}, node_version: { version } },
  });
}

test('publisher create makes a publisher once, and update rejects a website that a page would run', async () => {
  const create = ['publisher', 'create', 'lab', '--name'];
  await admin(...create, 'The Lab');
  const runs = await admin('publisher', 'update', 'lab', '--website', 'javascript:x');
  await admin('publisher', 'update', 'lab', '--website', 'https://lab.example');
  const second = await admin(...create, 'Second');

  expect([runs.status, runs.stderr]).toEqual([
    2,
    expect.stringContaining('must not be a URL that runs code'),
  ]);
  expect(second).toEqual({ status: 1, stdout: '', stderr: expect.stringMatching(/is taken or reserved/) });
  expect(await adminJson('publisher', 'show', 'lab')).toEqual({
    id: 'lab',
    name: 'The Lab',
    website: 'https://lab.example',
    members: [],
    banned: false,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  });
});

describe('member', () => {
  const ownersOf = async (id: string) =>
    (await adminJson('member', 'list', id))
      .filter(({ role }: { role: string }) => role === 'owner')
      .map(({ user }: { user: { id: string } }) => user.id);

  test('keeps the fields that a second add leaves out, until it is removed', async () => {
    const add = async (...options: string[]) =>
      (await adminJson('member', 'add', 'acme', 'vera', ...options)).members.find(
        ({ user }: { user: { id: string } }) => user.id === 'vera',
      );
    const email = 'vera@acme.example';
    const added = [
      await add('--name', 'Vera', '--email', email),
      await add('--role', 'owner'),
      await add('--name', 'Vera V.'),
    ];
    await admin('member', 'remove', 'acme', 'vera');

    expect(added).toEqual([
      { id: memberIdOf('vera'), role: 'member', user: { id: 'vera', name: 'Vera', email } },
      { id: memberIdOf('vera'), role: 'owner', user: { id: 'vera', name: 'Vera', email } },
      { id: memberIdOf('vera'), role: 'owner', user: { id: 'vera', name: 'Vera V.', email } },
    ]);
    expect(await ownersOf('acme')).toEqual(['olga']);
  });

  test.each(['member remove solo ann', 'member add solo ann --role member'])(
    'leaves a publisher without an owner only with --force: %s',
    async (line) => {
      await addPublisher('solo', { ann: 'owner', bob: 'member' });
      // The last owner can be given a name.
      await admin('member', 'add', 'solo', 'ann', '--role', 'owner', '--name', 'Ann');
      const rejected = await admin(...line.split(' '));
      const before = await ownersOf('solo');
      const forced = await admin(...line.split(' '), '--force');

      expect(rejected.stderr).toMatch(/^"ann" is the last owner of "solo", .* --force\.\n$/);
      expect([rejected.status, before, forced.status]).toEqual([1, ['ann'], 0]);
      expect(await ownersOf('solo')).toEqual([]);
    },
  );
});

describe('token', () => {
  test('publishes until it is revoked, and only its hash is stored', async () => {
    const create = ['token', 'create', 'acme', '--label', 'ci'];
    const [{ token: fresh, id, ...made }, short] = [
      await adminJson(...create),
      await adminJson(...create, '--days', '2'),
    ];
    const answer = await publishWith(fresh, 'by-token');
    const listed = await adminJson('token', 'list', 'acme');
    const { Items } = await dynamodb.send(new ScanCommand({ TableName: tableName() }));
    const [first, second] = [
      await adminJson('token', 'revoke', 'acme', id),
      await adminJson('token', 'revoke', 'acme', id),
    ];
    const late = await publishWith(fresh, 'by-revoked');
    await addToken('acme', -1);
    const { stdout } = await admin('token', 'list', 'acme');

    const daysOf = ({ created_at = '', expires_at = '' }) =>
      Math.round((Date.parse(expires_at) - Date.parse(created_at)) / 86_400_000);
    expect([daysOf(made), daysOf(short)]).toEqual([365, 2]);
    expect([answer.status, late.status, late.body.error]).toEqual([
      ...[201, 401, 'invalid_personal_access_token'],
    ]);
    expect(listed).toContainEqual(
      expect.objectContaining({ id, label: 'ci', last_used_at: expect.any(String) }),
    );
    const hash = hashPersonalAccessToken(fresh);
    expect(await storedItem(personalAccessTokenKey('acme', hash))).toMatchObject({ id });
    expect(JSON.stringify([Items, listed])).not.toContain(fresh);
    expect(JSON.stringify(listed)).not.toContain(hash);
    expect(second).toEqual(first);
    expect(stdout).toMatch(new RegExp(`${id} +ci +revoked `));
    expect(stdout.match(/ (revoked|expired) /g)?.sort()).toEqual([' expired ', ' revoked ']);
  });
});

const operator = { operator: 'admin' };
const gitHub = 'https://token.actions.githubusercontent.com';
const job = ['--repository', 'octo/nodes', '--workflow', '.github/workflows/release.yml'];

async function history(publisher: string): Promise<[string, string][]> {
  const records = await adminJson('history', 'publisher', publisher);
  return records.map(({ action, detail }: { action: string; detail: string }) => [action, detail]);
}

describe('trust', () => {
  test('adds a trust, lists it, removes it, and leaves the history of both', async () => {
    await addPublisher('trusting', {});
    const shared = 'octo/ci/.github/workflows/publish.yml@refs/tags/v1';
    const options = `--job-workflow ${shared} --environment production --ref refs/tags/v* --node One`;
    const added = await adminJson('trust', 'add', 'trusting', ...job, ...options.split(' '));
    const before = await adminJson('trust', 'list', 'trusting');
    const removed = await adminJson('trust', 'remove', 'trusting', added.id);
    const again = await adminJson('trust', 'remove', 'trusting', added.id);

    expect(added).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created_at: expect.any(String),
      issuer: gitHub,
      repository: 'octo/nodes',
      workflow: 'release.yml',
      job_workflow: shared,
      environment: 'production',
      ref: 'refs/tags/v*',
      node_id: 'One',
    });
    expect(before).toEqual([{ ...added, state: 'active' }]);
    expect(again).toEqual(removed);
    expect(await adminJson('trust', 'list', 'trusting')).toEqual([
      { ...added, revoked_at: removed.revoked_at, state: 'removed' },
    ]);
    const detail = `octo/nodes release.yml, by ${shared}, environment production, refs/tags/v*, node One, ${gitHub}`;
    expect((await history('trusting')).slice(0, 2)).toEqual([
      ['trust remove', detail],
      ['trust add', detail],
    ]);
  });

  test.each([
    ['--repository nodes', 'repository must be an owner and a repository'],
    ['--workflow release', 'workflow must be the name of a file that ends in .yml or .yaml'],
    ['--job-workflow release.yml', 'job_workflow must be a workflow file with its repository and ref'],
    ['--issuer jenkins', 'issuer must be the URL of an issuer'],
    ...['main', 'refs/pull/1/merge', 'refs/*', 'refs/heads/a*b', '*'].map((ref) => [
      `--ref ${ref}`,
      'ref must be a branch or a tag, such as refs/tags/v*',
    ]),
    ['--event pull_request_target', 'event must be an event, and none of a pull request'],
    [
      '--node .x',
      'node_id must be letters, digits, ".", "_" or "-", beginning and ending with a letter or digit',
    ],
  ])('exits with 2 and one sentence: %s', async (options = '', sentence = '') => {
    // Of an option that is given twice, the last one counts.
    const result = await admin('trust', 'add', 'trusting', ...job, ...options.split(' '));

    expect(result).toEqual({ status: 2, stdout: '', stderr: `The ${sentence}.\n` });
  });

  test('rejects a trust that is there, whatever the case of its names, until it is removed', async () => {
    await addPublisher('twice', {});
    const { id } = await adminJson('trust', 'add', 'twice', ...job, '--node', 'some-node');
    const upper = ['--repository', 'Octo/Nodes', '--workflow', 'release.yml', '--node', 'Some-Node'];
    const second = await admin('trust', 'add', 'twice', ...upper);
    const wider = await admin('trust', 'add', 'twice', ...job);
    const narrower = await admin('trust', 'add', 'twice', ...job, '--ref', 'refs/heads/main');
    await admin('trust', 'remove', 'twice', id);
    const after = await admin('trust', 'add', 'twice', ...upper);

    const stderr = `"twice" trusts these jobs already, by the trust ${id}.\n`;
    expect(second).toMatchObject({ status: 1, stderr });
    expect([wider.status, narrower.status, after.status]).toEqual([0, 0, 0]);
  });

  test('takes at most 100 trusts of a publisher, not counting those that were removed', async () => {
    await addPublisher('many', {});
    const trust = (index: number) => ({ issuer: gitHub, repository: `octo/r${index}`, workflow: 'a.yml' });
    limitPages(40);
    const { id } = await addTrust(soon(), operator, 'many', trust(0));
    const record = await storedItem(trustKey('many', id));
    const putCopy = (other: string) =>
      write(soon(), putting({ ...record, ...trustKey('many', other), id: other }, absent));
    await Promise.all(Array.from({ length: 99 }, (_, at) => putCopy(`copy-${at}`)));

    await expect(addTrust(soon(), operator, 'many', trust(100))).rejects.toThrow(
      '"many" has 100 trusts, the maximum: remove one first.',
    );
    await removeTrust(soon(), operator, 'many', id);
    expect(await addTrust(soon(), operator, 'many', trust(100))).toMatchObject({ repository: 'octo/r100' });
  });
});

describe('node', () => {
  test.each([
    ['publisher', 'ban', 'acme', 'the publisher "acme"'],
    ['node', 'ban', 'told', 'the node "told"'],
    ['caller', 'block', 'told', 'told'],
    ['node-version', 'ban', 'told 1.0.0', 'version 1.0.0 of "told"'],
    ['node-version', 'flag', 'told 1.0.0', 'version 1.0.0 of "told"'],
  ])(
    'says what %s un%s did to %s, or that it changed nothing, and shows the last reason until then',
    async (noun, verb, subject, name) => {
      await addNode('acme', 'told');
      await addVersion('acme', 'told', '1.0.0');
      const did = async (word: string, ...options: string[]) =>
        (await admin(noun, word, ...subject.split(' '), ...options)).stdout;
      const shown = async () => {
        const show = noun === 'caller' ? 'limit' : noun;
        const { history: _, ...now } = await adminJson(show, 'show', ...subject.split(' '));
        return JSON.stringify(now);
      };
      for (const reason of ['spam', 'worse']) await did(verb, '--reason', reason);

      expect(await shown()).toContain('worse');
      expect(await did(`un${verb}`)).toMatch(new RegExp(`^Un${verb}\\w+ ${name}[.:]`));
      expect(await shown()).not.toContain('worse');
      expect(await did(`un${verb}`)).toMatch(/nothing changed/i);
    },
  );
});
