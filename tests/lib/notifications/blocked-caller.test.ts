import { afterAll, expect, test } from '@jest/globals';
import { say } from '../../support/notified.ts';
import { handler } from '../../../functions/deliver-notifications.ts';
import { blockCaller } from '../../../tools/admin/spend/terms.ts';
import { shownStatus } from '../../support/notifications.ts';
import { simulation } from '../../support/proxies.ts';
import { runQueue } from '../../support/queue.ts';
import { startReceiver } from '../../support/receiver.ts';
import { notificationsOf, pathOf } from '../../support/relay.ts';
import { pay, spender } from '../../support/spending.ts';

const receiver = await startReceiver();

afterAll(() => receiver.stop());

test('gives a caller who was blocked after paying its result, by status address and notification, and sells it no more', async () => {
  const user = await spender();
  await pay(user, 'text-to-video', { body: { callback_url: receiver.url } });
  const path = pathOf(simulation.received.at(-1)?.body.callback_url);
  await blockCaller(`user:${user}`, 'leaked token');
  const body = { id: '12', state: 'success', creations: [{ url: 'https://videos.example/12.mp4' }] };

  expect((await say(path, body)).status).toBe(200);
  await runQueue(handler);
  const [notification] = await notificationsOf(path.ticket);
  const { content } = await shownStatus(notification);

  expect(notification).toMatchObject({ result: 'delivered' });
  expect(receiver.received).toHaveLength(1);
  expect(content).toMatchObject({ state: 'success', media: ['https://videos.example/12.mp4'] });
  // The status says nothing of the caller, nor why it was blocked.
  expect(Object.keys(content).sort()).toEqual(['media', 'state', 'task_id', 'updated_at']);
  expect((await pay(user)).body.error).toBe('caller_blocked');
});
