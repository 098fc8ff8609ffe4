import { describe, expect, test } from '@jest/globals';
import { addTrust, removeTrust } from '../../lib/registry/trusts.ts';
import { absent } from '../../lib/store/items.ts';
import { trustKey } from '../../lib/store/keys.ts';
import { put } from '../../lib/store/write.ts';
import { admin, adminJson, limitPages } from '../support/admin.ts';
import { addPublisher, storedItem } from '../support/registry.ts';
import '../support/in-order.ts';

const operator = { operator: 'admin' };
const soon = () => ({ deadline: Date.now() + 5000 });
const gitHub = 'https://token.actions.githubusercontent.com';
const job = ['--repository', 'octo/nodes', '--workflow', '.github/workflows/release.yml'];

async function history(publisher: string): Promise<[string, string][]> {
  const records = await adminJson('history', 'publisher', publisher);
  return records.map(({ action, detail }: { action: string; detail: string }) => [action, detail]);
}

describe('npm run admin -- trust', () => {
  test('adds a trust, lists it, removes it, and leaves the history of both', async () => {
    await addPublisher('acme', {});
    const shared = 'octo/ci/.github/workflows/publish.yml@refs/tags/v1';
    const options = `--job-workflow ${shared} --environment production --ref refs/tags/v* --node One`;
    const added = await adminJson('trust', 'add', 'acme', ...job, ...options.split(' '));
    const before = await adminJson('trust', 'list', 'acme');
    const removed = await adminJson('trust', 'remove', 'acme', added.id);
    const again = await adminJson('trust', 'remove', 'acme', added.id);

    expect(added).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created_at: expect.any(String),
      ...{ issuer: gitHub, repository: 'octo/nodes', workflow: 'release.yml', job_workflow: shared },
      ...{ environment: 'production', ref: 'refs/tags/v*', node_id: 'One' },
    });
    expect(before).toEqual([added]);
    expect(again).toEqual(removed);
    expect(await adminJson('trust', 'list', 'acme')).toEqual([{ ...added, revoked_at: removed.revoked_at }]);
    const detail = `octo/nodes release.yml, by ${shared}, environment production, refs/tags/v*, node One, ${gitHub}`;
    expect((await history('acme')).slice(0, 2)).toEqual([
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
    const result = await admin('trust', 'add', 'acme', ...job, ...options.split(' '));

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
      put(soon(), { ...record, ...trustKey('many', other), id: other }, absent);
    await Promise.all(Array.from({ length: 99 }, (_, at) => putCopy(`copy-${at}`)));

    await expect(addTrust(soon(), operator, 'many', trust(100))).rejects.toThrow(
      '"many" has 100 trusts, the maximum: remove one first.',
    );
    await removeTrust(soon(), operator, 'many', id);
    expect(await addTrust(soon(), operator, 'many', trust(100))).toMatchObject({ repository: 'octo/r100' });
  });
});
