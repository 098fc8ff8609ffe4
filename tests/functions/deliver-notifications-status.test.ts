import { beforeEach, describe, expect, test } from '@jest/globals';
import { queue, runQueue } from '../support/queue.ts';
import { handler } from '../../functions/deliver-notifications.ts';
import type { NotificationRecord } from '../../lib/notifications/records.ts';
import { s3 } from '../../lib/bucket/bucket.ts';
import { intercept } from '../support/intercept.ts';
import { shownStatus, writeNotification } from '../support/notifications.ts';
import { startReceiver } from '../support/receiver.ts';
import { stopDate } from '@node-registry/testing/clock';
import { until } from '@node-registry/testing/until';

// SQS may show any message twice, and in any order.
Object.assign(queue.faults, { duplicates: 1, isShuffled: true });

beforeEach(() => stopDate());

const run = () => runQueue(handler);

describe('the status of a task', () => {
  test('has the fields that every notification has, and nothing else of the provider', async () => {
    const common = { task_id: '1', state: 'success', media: ['https://videos.example/1.mp4'] };
    const film = { id: '1-1', url: 'https://videos.example/1.mp4' };
    const unsafe = { id: '1-2', url: 'javascript:alert(1)' };
    const body = JSON.stringify({ ...common, creations: [{ ...film, n: 1 }, unsafe], payload: 'private' });
    const written = await writeNotification(undefined, { body });
    await run();

    const { content, cacheControl, contentType } = await shownStatus(written);
    const creations = [{ ...film, cover_url: '' }];
    expect(content).toEqual({ ...common, creations, updated_at: written.at });
    expect([cacheControl, contentType]).toEqual(['public, max-age=2', 'application/json']);
  });

  test('keeps the last of four states that are delivered side by side', async () => {
    const status_key = `status/${crypto.randomUUID()}.json`;
    const states = ['created', 'queueing', 'processing', 'success'] as const;
    const [written] = await Promise.all(
      states.map((state) => writeNotification(undefined, { status_key, ...said(state) })),
    );
    await run();

    expect((await shownStatus(written)).content).toMatchObject({ state: 'success' });
  });

  test.each([
    ['GetObjectCommand', 'processing', 'success'],
    ['PutObjectCommand', 'success', 'processing'],
  ] as const)('shows the last state after a foreign answer to %s', async (broken, second, first) => {
    const status_key = `status/${crypto.randomUUID()}.json`;
    const written = await writeNotification(undefined, { status_key, ...said(first) });
    await run();
    await writeNotification(undefined, { status_key, ...said(second) });
    const repair = intercept(s3(), async ({ command, send }) => (command === broken ? {} : send()));
    await run();
    repair();
    queue.advance(180_000);
    await run();

    expect((await shownStatus(written)).content).toMatchObject({ state: 'success' });
  });

  test('is shown before a receiver that hangs is called', async () => {
    const receiver = await startReceiver();
    receiver.answers.push('hang');
    const written = await writeNotification(receiver.url);
    const running = run();
    await until(() => receiver.received.length > 0);

    expect((await shownStatus(written)).content).toMatchObject({ state: 'success' });
    await receiver.stop();
    await running;
  });
});

function said(state: NotificationRecord['state']) {
  return { state, body: JSON.stringify({ task_id: '1', state, media: [] }) };
}
