import { PassThrough } from 'node:stream';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { dynamodb, tableName } from '../../lib/store/table.ts';
import { runCommandLine } from '../../tools/admin/command-line.ts';
import { confirm } from 'command-line/confirm';
import { table } from 'command-line/table';
import { admin, adminJson } from '../support/admin.ts';
import { addNode, addPublisher, addVersion } from '../support/registry.ts';
import { SilentServer } from '../support/silent-server.ts';
import '../support/in-order.ts';

beforeAll(async () => {
  await addPublisher('acme', { olga: 'owner', mats: 'member' });
  await addPublisher('zeta', {});
  await addNode('acme', 'first-node');
  await addNode('acme', 'second-node');
  await addVersion('acme', 'first-node', '1.0.0');
  await addVersion('acme', 'first-node', '1.1.0');
  await addVersion('acme', 'second-node', '2.0.0');
});

describe('npm run admin', () => {
  test('lists every publisher with its number of members', async () => {
    const { stdout } = await admin('publisher', 'list');
    const ids = (await adminJson('publisher', 'list')).map(({ id }: { id: string }) => id);

    expect(ids).toEqual(['acme', 'zeta']);
    expect(stdout).toMatch(/^PUBLISHER +NAME +MEMBERS +BANNED +CREATED\nacme .* 2 +no .*\nzeta .* 0 +no /);
  });

  test('lists the members of a publisher by user', async () => {
    const { stdout } = await admin('member', 'list', 'acme');

    expect(stdout).toMatch(/^USER +ROLE +NAME +EMAIL\nmats +member .*\nolga +owner /);
    expect(await adminJson('member', 'list', 'acme')).toHaveLength(2);
    expect((await admin('member', 'list', 'zeta')).stdout).toBe('No members.\n');
  });

  test('lists the nodes of a publisher', async () => {
    const ids = (await adminJson('node', 'list', '--publisher', 'acme')).map(({ id }: { id: string }) => id);

    expect(ids).toEqual(['first-node', 'second-node']);
    expect((await admin('node', 'list', '--publisher', 'acme')).stdout).toMatch(/\nfirst-node .* active /);
    expect((await admin('node', 'list', '--publisher', 'zeta')).stdout).toBe('"zeta" has no nodes.\n');
  });

  test('shows a version, whose label it reads leniently', async () => {
    const { stdout } = await admin('node-version', 'show', 'first-node', 'v1.1');

    expect(stdout).toMatch(/^Version +1\.1\.0\nNode +first-node\n/);
    expect(await adminJson('node-version', 'show', 'first-node', '1.1.0')).toMatchObject({
      version: '1.1.0',
    });
  });

  test.each([
    ...['member list nobody', 'node list --publisher nobody', 'publisher show nobody', 'trust list nobody'],
    ...['publisher ban nobody --reason x', 'token create nobody --label x', 'trust remove nobody x'],
    ...['trust add nobody --repository octo/nodes --workflow a.yml', 'history publisher nobody'],
  ])('says in one sentence that a publisher does not exist: %s', async (line) => {
    const stderr = 'There is no publisher "nobody".\n';
    expect(await admin(...line.split(' '))).toEqual({ status: 1, stdout: '', stderr });
  });

  test.each([
    ['token revoke acme x', 'The publisher "acme" has no token with the id "x".'],
    ['trust remove acme x', 'The publisher "acme" has no trust with the id "x".'],
    ['member remove acme nobody', 'The publisher "acme" has no member "nobody".'],
    ['node-version show no-node 1.0.0', 'There is no node "no-node".'],
    ['node ban first_node --reason x', 'There is no node "first_node"; did you mean "first-node"?'],
    ...['show first-node 9.0.0', 'show first-node nightly', 'ban first-node 9.0.0 --reason x'].map((line) => [
      `node-version ${line}`,
      `The node "first-node" has no version "${line.split(' ')[2]}".`,
    ]),
    ['host-node list first-node 9.0.0', 'The node "first-node" has no version "9.0.0".'],
    ['host-node list first-node nightly', 'The node "first-node" has no version "nightly".'],
  ])('says in one sentence what does not exist: %s', async (line, sentence) => {
    const stderr = `${sentence}\n`;
    expect(await admin(...String(line).split(' '))).toEqual({ status: 1, stdout: '', stderr });
  });
});

describe('the commands that read the whole table', () => {
  const silent = new SilentServer();

  afterEach(() => {
    dynamodb.middlewareStack.remove('troubled');
    silent.stop();
  });

  test('repeat a page of a scan that is throttled, and one that is never answered', async () => {
    await silent.listen();
    const troubles = [...Array<string>(3).fill('throttled'), ...Array<string>(3).fill('silent')];
    dynamodb.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const trouble = commandName === 'ScanCommand' ? troubles.shift() : undefined;
          if (trouble === 'throttled') throw Object.assign(new Error(), { name: 'ThrottlingException' });
          if (trouble === 'silent') silent.redirect(args.request);
          return next(args);
        },
      { step: 'finalizeRequest', priority: 'low', name: 'troubled' },
    );
    const results = await Promise.all([
      admin('publisher', 'list'),
      admin('host-node', 'clashes'),
      admin('index', 'rebuild'),
    ]);

    expect(results.map(({ status, stderr }) => [status, stderr])).toEqual(
      Array(3).fill([0, expect.any(String)]),
    );
    expect([troubles.length, silent.asked]).toEqual([0, 3]);
  });
});

describe('on a deployed table', () => {
  const deployed = ['--region', 'us-east-1', '--table', tableName()];
  const run = (...args: string[]) => runCommandLine([...args, ...deployed]);

  test.each([
    [['publisher', 'ban', 'acme'], 'bans the publisher "acme" with 2 nodes and 3 versions'],
    [['node', 'ban', 'second-node'], 'bans the node "second-node" of "acme" with 1 version'],
    [['node-version', 'ban', 'first-node', '1.0.0'], 'bans version 1.0.0 of "first-node", which is active'],
    [['caller', 'block', 'someone'], 'stops all paid requests of someone'],
    [
      ['node', 'transfer', 'second-node', '--to', 'zeta'],
      'gives the node "second-node" of "acme" with 1 version to the publisher "zeta" with 0 nodes and 0 versions',
    ],
    [
      ['publisher', 'merge', 'zeta', '--into', 'acme'],
      'makes the publisher "zeta" with 0 nodes and 0 versions part of the publisher "acme" with 2 nodes and 3 versions',
    ],
    [
      ['publisher', 'rename', 'zeta', 'zetta'],
      'renames the publisher "zeta" with 0 nodes and 0 versions to "zetta"',
    ],
  ])('says what %j reaches, and does nothing without --yes', async (args, impact) => {
    const reason = /ban|block/.test(args[1] ?? '') ? ['--reason', 'A test'] : [];
    const { status, stderr } = await run(...args, ...reason);

    expect([status, stderr]).toEqual([
      2,
      `In ${tableName()}, this ${impact}. Repeat it with --yes to do it. See npm run admin -- ${args.slice(0, 2).join(' ')} --help\n`,
    ]);
    expect((await adminJson('publisher', 'show', 'acme')).banned).toBe(false);
    expect((await adminJson('node-version', 'show', 'first-node', '1.0.0')).status).toMatch(/Active$/);
  });

  test('names the token that is about to be revoked, and revokes it with --yes', async () => {
    const { id } = await adminJson('token', 'create', 'acme', '--label', 'release job');
    const asked = await run('token', 'revoke', 'acme', id);
    const done = await run('token', 'revoke', 'acme', id, '--yes');

    expect(asked.stderr).toContain(
      'this permanently revokes the token "release job", last used never. Repeat',
    );
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

describe('confirm', () => {
  test.each([
    ['y\n', true],
    ['YES\n', true],
    ['n\n', false],
    ['\n', false],
    ['yesterday\n', false],
    ['', false],
  ])('confirms with %j: %s', async (typed, answer) => {
    const input = new PassThrough();
    const output = new PassThrough();
    const asked = confirm('Do it?', input, output);
    if (typed === '') input.end();
    else input.write(typed);

    // One that is not paused keeps the process alive.
    expect([await asked, input.isPaused()]).toEqual([answer, true]);
    expect(String(output.read())).toContain('Do it? [y/N]');
  });
});

test('a table aligns its columns, shows an absent value as a dash, and no character that turns a line around', () => {
  const rows = [
    ['x', 1, undefined],
    ['yy\u202E\u001b', 1000, ''],
  ];

  expect(table(['NAME', 'N', 'NOTE'], rows, { alignRight: [1] })).toBe(
    'NAME     N  NOTE\nx        1  -\nyy    1000  -',
  );
});
