import { beforeAll, describe, expect, test } from '@jest/globals';
import { admin, adminJson } from '../../../tests/support/admin.ts';
import { addNode, addPublisher, addVersion } from '../../../tests/support/registry.ts';

beforeAll(async () => {
  await addPublisher('acme', { olga: 'owner' });
  await addNode('acme', 'demo');
  await addVersion('acme', 'demo', '1.0.0');
});

const actionsOf = (history: { action: string; subject: string; detail?: string }[]) =>
  history.map(({ action, subject, detail = 'no detail' }) => `${action} ${subject}: ${detail}`);

describe('history publisher', () => {
  test('lists each change of the publisher, its members and its tokens, the latest first', async () => {
    await admin('member', 'add', 'acme', 'mats');
    const { id } = await adminJson('token', 'create', 'acme', '--label', 'ci');
    await admin('token', 'revoke', 'acme', id);
    await admin('publisher', 'ban', 'acme', '--reason', 'Taken over');
    await admin('publisher', 'unban', 'acme');
    await admin('publisher', 'unban', 'acme');

    const history = await adminJson('history', 'publisher', 'acme');
    expect(actionsOf(history)).toEqual([
      'publisher unban acme: no detail',
      'publisher ban acme: Taken over',
      `token revoke ${id}: ci`,
      `token create ${id}: ci`,
      'member add mats: no detail',
      'member add olga: owner',
      'publisher create acme: no detail',
    ]);
    expect(history[1]).toMatchObject({ actor: expect.stringMatching(/.@./) });
  });

  test('shows them as a table', async () => {
    const { stdout } = await admin('history', 'publisher', 'acme');

    expect(stdout).toMatch(/^TIME +ACTOR +ACTION +SUBJECT +DETAIL$/m);
    expect(stdout).toMatch(/ publisher create +acme/);
  });
});

describe('history node', () => {
  test('lists each change of the node and its versions', async () => {
    await admin('node-version', 'flag', 'demo', '1.0.0', '--reason', 'Under review');
    await admin('node-version', 'flag', 'demo', '1.0.0', '--reason', 'Under review');
    await admin('node', 'ban', 'demo', '--reason', 'A copy');

    expect(actionsOf(await adminJson('history', 'node', 'demo'))).toEqual([
      'node ban demo: A copy',
      'node-version flag demo 1.0.0: Under review',
    ]);
  });
});
