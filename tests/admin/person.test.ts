import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { handler as publish } from '../../functions/publish-node-version.ts';
import { handler as selfService } from '../../functions/self-service.ts';
import { handler as updateHostNode } from '../../functions/update-host-node.ts';
import { handler as updateNode } from '../../functions/update-node.ts';
import { memberIdOf } from '../../lib/caller.ts';
import { personKey } from '../../lib/store/keys.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { scan } from '../../tools/admin/registry/administration.ts';
import { admin, adminJson } from '../support/admin.ts';
import { intercept } from '../support/intercept.ts';
import { invoke } from '../support/invoke.ts';
import { addPublisher, addToken } from '../support/registry.ts';
import { readTable } from '../support/table-image.ts';
import { pay, spender } from '../support/spending.ts';
import { bearer } from '../support/tokens.ts';

const period = ['--from', new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)];

const ask = (routeKey: string, by: string, path: Record<string, string>, body: object) =>
  invoke((event, context) => selfService({ ...event, routeKey }, context), 'self-service', {
    path,
    body,
    headers: { authorization: bearer(by), 'content-type': 'application/json' },
  });

test('person erase, killed at every write, leaves sums and no record that names the person', async () => {
  const user = await spender({ tasks_per_day: 9 });
  const id = `p${randomUUID().slice(0, 8)}`;
  await addPublisher(id, { owner: 'owner', [user]: 'member' });
  await admin('member', 'add', id, user, '--name', 'Petra Person', '--role', 'owner');
  const call = { path: { publisherId: id, nodeId: id }, headers: { authorization: bearer(user) } };
  await ask('POST /publishers', user, {}, { id: `${id}-own`, name: 'Own' });
  await admin('member', 'add', `${id}-own`, 'owner', '--role', 'owner');
  await ask('POST /publishers/{publisherId}/invitations', 'owner', { publisherId: id }, { user_id: user });
  await admin('publisher', 'rename', `${id}-own`, `${id}-mine`);
  const body = {
    personal_access_token: await addToken(id),
    node: {},
    node_version: { version: '1.0.0', changelog: 'News' },
  };
  await invoke(publish, 'publish-node-version', { ...call, body });
  await invoke(updateNode, 'update-node', { ...call, body: { name: 'Named' } });
  await invoke(updateHostNode, 'update-host-node', {
    path: { nodeId: id, version: '1.0.0', hostNodeName: 'Load' },
    headers: call.headers,
    body: { description: 'Loads' },
  });
  await pay(user, 'multiframe-video');
  const sum = async (name: string) =>
    await adminJson('usage', '--user', name, '--by', 'operation', ...period);
  const before = await sum(user);

  // Each run dies at its third write, after the record of the command, so that each write is the last of one run.
  let [status, isRead] = [1, false];
  for (let run = 0; status !== 0 && run < 40; run += 1) {
    let writes = 0;
    const remove = intercept(dynamodb, async ({ command, send }) => {
      if (!/Get|Query|Scan/.test(command)) writes += 1;
      if (writes > 2) throw new Error('killed');
      const output = await send();
      isRead ||= command === 'ScanCommand' && JSON.stringify({ ...output }).includes('News');
      return output;
    });
    ({ status } = await admin('person', 'erase', user).catch(() => ({ status: 1 })));
    remove();
  }
  const items = await Array.fromAsync(scan({}));
  const records = items.filter((item) => JSON.stringify(item).includes(user));
  const ofPerson = items.filter(({ pk }) => pk === personKey(memberIdOf(user)).pk);
  const [{ user: hash }] = await adminJson('limit', 'list');

  expect([records, ofPerson, isRead]).toEqual([[], [], false]);
  expect(hash).toMatch(/^erased:/);
  expect([before.length, await sum(hash)]).toEqual([1, before]);
});

test('person erase changes nothing for the last owner of a publisher, or in a dry run, unless it is forced', async () => {
  const id = `p${randomUUID().slice(0, 8)}`;
  await addPublisher(id, { [id]: 'owner' });
  await addPublisher(`${id}-2`, { owner: 'owner', [id]: 'member' });
  await admin('member', 'add', id, id, '--name', 'Named in a history');
  const before = await readTable();
  expect((await admin('person', 'erase', id, '--dry-run')).stdout).toEqual(
    expect.stringMatching(
      `^The person is named in the members of ${id} \\(last owner\\), ${id}-2 and \\d other records`,
    ),
  );
  const rejected = await admin('person', 'erase', id);
  expect(new Map([...(await readTable())].filter(([key]) => !key.includes('COMMAND')))).toEqual(before);
  const forced = await admin('person', 'erase', id, '--force');

  expect([rejected.status, forced.stdout]).toEqual([
    1,
    expect.stringMatching(`^The person was erased from \\d+ records\\. No owner is left: ${id}\\.\n$`),
  ]);
  expect(rejected.stderr).toMatch(/Nothing was erased\. "\S+" is the last owner of/);
  expect((await adminJson('member', 'list', id)).length).toBe(0);
});
