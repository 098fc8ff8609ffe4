import { hash, randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { notificationsOf, storedTask } from '../../support/relay.ts';
import { say, started } from '../../support/notified.ts';
import { handler as deliver } from '../../../functions/deliver-notifications.ts';
import { handler as publish } from '../../../functions/publish-node-version.ts';
import type { TaskRecord } from '../../../lib/notifications/records.ts';
import { fromAttributes } from '../../../lib/store/items.ts';
import { taskKey } from '../../../lib/store/keys.ts';
import { updating, write } from '../../../lib/store/write.ts';
import { addTrust } from '../../../lib/registry/trusts.ts';
import { gitHub, gitHubToken } from '../../support/ci.ts';
import { invoke } from '../../support/invoke.ts';
import { storedNotification, writeNotification } from '../../support/notifications.ts';
import { runQueue } from '../../support/queue.ts';
import { misbehave } from '../../support/proxies.ts';
import { startReceiver } from '../../support/receiver.ts';
import { addPublisher, soon } from '../../support/registry.ts';
import { pay, spender } from '../../support/spending.ts';
import { readTable } from '../../support/table-image.ts';

/** DynamoDB deletes a record some time after its `ttl`, in whole seconds since the epoch. */

const daySeconds = 86_400;
const receiver = await startReceiver();
const began = Math.floor(Date.now() / 1000);
const tokenExpiresAt = began + 3600;

/** Each kind of record that expires, by its key, and when: documented in lib/store/keys.ts and docs. */
const kinds = [
  {
    kind: 'the answer of an Idempotency-Key: 24 hours',
    key: /^IDEMPOTENCY#\S+ (?:ANSWER|PART#\S+)$/,
    seconds: daySeconds,
  },
  { kind: 'a usage record: 400 days', key: /^USAGE#[\d-]+#\S{32,} \d/, seconds: 400 * daySeconds },
  { kind: 'a caller of a day: 400 days', key: /^USAGE#[\d-]+#\S CALLER#/, seconds: 400 * daySeconds },
  { kind: 'a task that notifies: 14 days', key: /^TASK#\S+ TASK$/, seconds: 14 * daySeconds },
  { kind: 'where the result of a task is: 14 days', key: /^RESULT#\S+ TASK$/, seconds: 14 * daySeconds },
  { kind: 'a notification: 14 days', key: /^TASK#\S+ NOTIFICATION#/, seconds: 14 * daySeconds },
  { kind: 'a used ID token: 5 minutes after it expired', key: /^ID_TOKEN#/, seconds: 3600 + 300 },
];

const expiries = new Map<string, unknown>();
let ended = 0;

beforeAll(async () => {
  const path = await started();
  await say(path, { state: 'success' });
  // Its answer is kept in parts.
  misbehave({ kind: 'reply', fields: { payload: randomBytes(400_000).toString('base64') } });
  await pay(await spender(), 'text-to-video', { headers: { 'idempotency-key': randomUUID() } });
  await addPublisher('acme', {});
  const trust = { issuer: gitHub.issuer, repository: 'octo/nodes', workflow: 'release.yml' };
  await addTrust(soon(), { operator: 'admin' }, 'acme', trust);
  const { status } = await invoke(publish, 'publish-node-version', {
    path: { publisherId: 'acme', nodeId: 'expiring' },
    body: {
      personal_access_token: gitHubToken({ exp: tokenExpiresAt }),
      node: {},
      node_version: { version: '1.0.0' },
    },
    headers: { authorization: undefined },
  });
  expect(status).toBe(201);
  ended = Math.ceil(Date.now() / 1000);
  for (const [key, item] of await readTable()) {
    const { ttl } = fromAttributes(item);
    if (ttl !== undefined) expiries.set(key, ttl);
  }
});

describe('the `ttl` of a record', () => {
  test.each(kinds)('ends $kind', ({ key, seconds }) => {
    const found = [...expiries].filter(([name]) => key.test(name));

    expect(found).not.toEqual([]);
    for (const [name, ttl] of found)
      expect([name, Number(ttl) >= began + seconds && Number(ttl) <= ended + seconds]).toEqual([name, true]);
  });

  test('lists a period for each kind of record', () => {
    expect([...expiries.keys()].filter((name) => !kinds.some(({ key }) => key.test(name)))).toEqual([]);
  });

  test.each([
    [200, 'delivered', {}],
    [410, 'gone', {}],
    [500, 'failed', { tries: 7 }],
  ])('begins again when a delivery ends with %i, as %s', async (status, result, changes) => {
    receiver.answers.length = 0;
    receiver.answers.push(status);
    const earlier = Math.floor(Date.now() / 1000);
    const written = await writeNotification(receiver.url, { ...changes, ttl: earlier + daySeconds });
    await runQueue(deliver);
    const stored = await storedNotification(written);

    expect(stored.result).toBe(result);
    expect(stored.ttl).toBeGreaterThanOrEqual(earlier + 14 * daySeconds);
  });

  test('begins again when a provider notifies of a task', async () => {
    const path = await started();
    const key = taskKey(hash('sha256', path.task));
    const earlier = Math.floor(Date.now() / 1000);
    await write(soon(), updating<TaskRecord>(key, { ttl: earlier + daySeconds }, [['pk', 'exists']]));
    await say(path, { state: 'success' });

    expect(await notificationsOf(path.task)).toHaveLength(1);
    expect((await storedTask(path.task))?.ttl).toBeGreaterThanOrEqual(earlier + 14 * daySeconds);
  });
});
