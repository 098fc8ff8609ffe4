import { PassThrough } from 'node:stream';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { confirm } from '@node-registry/command-line/confirm';
import { table } from '@node-registry/command-line/table';
import { dynamodb, tableName } from '../../lib/store/dynamodb.ts';
import { runCommandLine } from '../../tools/admin/program.ts';
import { admin, adminJson } from '../support/admin.ts';
import { intercept } from '../support/intercept.ts';
import { addNode, addPublisher, addVersion } from '../support/registry.ts';
import '../support/in-order.ts';

beforeAll(async () => {
  await addPublisher('acme', { olga: 'owner', mats: 'member' });
  await addPublisher('large', {});
  await addPublisher('zeta', {});
  await addNode('acme', 'first-node');
  await addNode('acme', 'second-node');
  await addNode('large', 'third-node');
  await addVersion('acme', 'first-node', '1.0.0', { size_bytes: 10 });
  await addVersion('acme', 'first-node', '1.1.0', { createdAt: '1', trust_id: 'ci', token_id: 'x' });
  await addVersion('acme', 'second-node', '2.0.0', { createdAt: '2', size_bytes: 20, trust_id: 'ci' });
  await addVersion('large', 'third-node', '1.0.0', { size_bytes: 40 });
  await addVersion('large', 'third-node', '1.1.0', { size_bytes: 50 });
});

test.each([
  ['publisher list', /^ID +NAME +MEMBERS +BANNED +CREATED AT\nacme .* 2 +no .*\nlarge .*\nzeta .* - +no /, 3],
  ['publisher list --by-size', / CREATED AT +ARCHIVE BYTES\nlarge .* 90\nacme .* 30\nzeta .* 0\n$/, 3],
  ['node list --by-size', / BYTES\nthird-node .* 90\nsecond-node .* 20\nfirst-node .* 10\n$/, 3],
  ['node list --publisher acme --by-size', / BYTES\nsecond-node .* 20\nfirst-node .* 10\n$/, 2],
  ['node-version find --trust ci', /\nfirst-node +1\.1\.0 +acme +active .*\nsecond-node +2\.0\.0 /, 2],
  ['node-version find --trust ci --token x', /^NODE ID .*\nfirst-node .*\n$/, 1],
  ['node-version find --trust ci --status pending', /^No version matches\.\n$/, 0],
  ['member list acme', /^USER ID +ROLE +USER NAME +USER EMAIL\nmats +member .*\nolga +owner /, 2],
  ['member list zeta', /^No members\.\n$/, 0],
  ['node list --publisher acme', /\nfirst-node .* active .*\nsecond-node /, 2],
  ['node list --publisher zeta', /^"zeta" has no nodes\.\n$/, 0],
  ['history publisher acme', /^AT +ACTOR +ACTION +SUBJECT +DETAIL\n.* member add +\w+ +\w+\n/, 3],
  ['node-version show first-node v1.1', /^Version +1\.1\.0\n(?:.+\n)+Token id +x\nTrust id +ci\n/, undefined],
])('prints text, and as many entries of JSON: %s', async (line, text, entries) => {
  expect((await admin(...line.split(' '))).stdout).toMatch(text);
  expect((await adminJson(...line.split(' '))).length).toBe(entries);
});

const noPublisher = 'There is no publisher "nobody".';

test.each([
  ...['member list nobody', 'node list --publisher nobody', 'publisher show nobody', 'trust list nobody'],
  ...['publisher ban nobody --reason x', 'token create nobody --label x', 'trust remove nobody x'],
  ...['trust add nobody --repository octo/nodes --workflow a.yml', 'history publisher nobody'],
  ['token revoke acme x', 'The publisher "acme" has no token with the id "x".'],
  ['trust remove acme x', 'The publisher "acme" has no trust with the id "x".'],
  ['member remove acme nobody', 'The publisher "acme" has no member "nobody".'],
  ['node-version show no-node 1.0.0', 'There is no node "no-node".'],
  ['node ban first_node --reason x', 'There is no node "first_node"; did you mean "first-node"?'],
  ...['node-version show', 'node-version ban --reason x'].flatMap((line) =>
    ['9.0.0', 'nightly'].map((version) => [
      `${line} first-node ${version}`,
      `The node "first-node" has no version "${version}".`,
    ]),
  ),
])('says in one sentence what does not exist: %s', async (given) => {
  const [line = '', sentence = noPublisher] = [given].flat();
  const stderr = `${sentence}\n`;
  expect(await admin(...line.split(' '))).toEqual({ status: 1, stdout: '', stderr });
});

test('commands that read the whole table repeat a page that is throttled', async () => {
  let troubles = 3;
  intercept(dynamodb, async ({ command, send }) => {
    if (command !== 'ScanCommand' || troubles === 0) return send();
    troubles -= 1;
    throw Object.assign(new Error(), { name: 'ThrottlingException' });
  });

  expect([(await admin('publisher', 'list')).status, troubles]).toEqual([0, 0]);
});

describe('on a deployed table', () => {
  const deployed = ['--region', 'us-east-1', '--table', tableName()];
  const run = (...args: string[]) => runCommandLine([...args, ...deployed]);

  const acme = 'the publisher "acme" with 2 nodes and 3 versions';
  const zeta = 'the publisher "zeta" with 0 nodes and 0 versions';
  const second = 'the node "second-node" of "acme" with 1 version';

  test.each([
    ['publisher ban acme --reason x', `bans ${acme}`],
    ['node ban second-node --reason x', `bans ${second}`],
    ['node-version ban first-node 1.0.0 --reason x', 'bans version 1.0.0 of "first-node", which is active'],
    ['caller block someone --reason x', 'stops all paid requests, edits and publishes of someone'],
    ['node transfer second-node --to zeta', `gives ${second} to ${zeta}`],
    ['publisher merge zeta --into acme', `makes ${zeta} part of ${acme}, which cannot be undone`],
    ['publisher rename zeta zetta', `renames ${zeta} to "zetta"`],
  ])('says what %j reaches, and does nothing without --yes', async (line, impact) => {
    const [noun, verb] = line.split(' ');
    const stderr = `In ${tableName()}, this ${impact}. Repeat it with --yes to do it. See npm run admin -- ${noun} ${verb} --help\n`;

    expect(await run(...line.split(' '))).toEqual({ status: 2, stdout: '', stderr });
    expect((await adminJson('publisher', 'show', 'acme')).banned).toBe(false);
    expect((await adminJson('node-version', 'show', 'first-node', '1.0.0')).status).toMatch(/Active$/);
  });

  test('names the token that is about to be revoked, and revokes it with --yes', async () => {
    const { id } = await adminJson('token', 'create', 'acme', '--label', 'release job');
    const asked = await run('token', 'revoke', 'acme', id);
    const done = await run('token', 'revoke', 'acme', id, '--yes');

    expect(asked.stderr).toContain('permanently revokes the token "release job", last used never. Repeat');
    expect(done).toMatchObject({ status: 0, stderr: expect.stringMatching(/^Target: .*\n$/) });
  });

  test.each([
    [false, 1, 'Active'],
    [true, 0, 'Banned'],
  ])('asks at a terminal, and follows the answer %j', async (answer, status, state) => {
    const asked: string[] = [];
    const ban = ['node-version', 'ban', 'first-node', '1.1.0', '--reason', 'A test', ...deployed];
    const result = await runCommandLine(ban, async (question) => {
      asked.push(question);
      return answer;
    });

    expect(result.status).toBe(status);
    expect(asked).toEqual([expect.stringMatching(/ which is active\. Do it\?$/)]);
    expect((await adminJson('node-version', 'show', 'first-node', '1.1.0')).status).toBe(
      `NodeVersionStatus${state}`,
    );
  });
});

test.each([
  ...['y\n', 'YES\n'].map((typed) => [typed, true] as const),
  ...['n\n', '\n', 'yesterday\n', ''].map((typed) => [typed, false] as const),
])('confirms with %j: %s', async (typed, answer) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const asked = confirm('Do it?', input, output);
  if (typed === '') input.end();
  else input.write(typed);

  // One that is not paused keeps the process alive.
  expect([await asked, input.isPaused()]).toEqual([answer, true]);
  expect(String(output.read())).toContain('Do it? [y/N]');
});

test('a table aligns its columns, shows an absent value as a dash, and no character that turns a line around', () => {
  const rows = [
    ['x', 1, undefined],
    ['yy\u202E\u001b', 1000, ''],
    ['画像e\u0301', 20, 'b'],
  ];

  expect(table(['NAME', 'N', 'NOTE'], rows, { alignRight: [1] })).toBe(
    'NAME      N  NOTE\nx         1  -\nyy     1000  -\n画像e\u0301    20  b',
  );
});
