import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { deliverDue } from '../../../lib/notifications/deliver.ts';
import type { NotificationRecord } from '../../../lib/notifications/records.ts';
import { emptyOutbox, makeDue, storedNotification, writeNotification } from '../../support/notifications.ts';
import { startReceiver } from '../../support/receiver.ts';

const receiver = await startReceiver();
const other = await startReceiver('localhost');

beforeEach(async () => {
  await emptyOutbox();
  for (const { received, answers } of [receiver, other]) {
    received.length = 0;
    answers.length = 0;
  }
});

afterAll(() => Promise.all([receiver.stop(), other.stop()]));

const run = (remainingMs = 60_000) => deliverDue({ deadline: Date.now() + remainingMs });
const receivedOf = ({ id }: NotificationRecord) =>
  other.received.filter(({ headers }) => headers['webhook-id'] === id);

describe('a slow receiver', () => {
  test('is given up after ten seconds, and tried again; what was delivered meanwhile stays so', async () => {
    receiver.answers.push('hang', 'hang', 204);
    const [again, hung] = [await writeNotification(receiver.url), await writeNotification(receiver.url)];
    const began = performance.now();
    const slow = run();
    while (receiver.received.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    await makeDue(again);
    await run();
    expect(await storedNotification(again)).toMatchObject({ result: 'delivered', attempts: 2 });
    await slow;

    expect(performance.now() - began).toBeGreaterThan(9_900);
    expect(performance.now() - began).toBeLessThan(12_000);
    expect(await storedNotification(hung)).toMatchObject({ attempts: 1, last_error: 'timed_out' });
    const stored = await storedNotification(again);
    expect(stored).toMatchObject({ result: 'delivered', attempts: 2 });
    expect(stored).not.toHaveProperty('last_error');
  });

  test('delays nobody: 40 notifications to another host arrive while 60 wait for it', async () => {
    receiver.answers.push('hang');
    await Promise.all(Array.from({ length: 60 }, () => writeNotification(receiver.url)));
    const prompt = await Promise.all(Array.from({ length: 40 }, () => writeNotification(other.url)));
    const began = performance.now();
    let arrivedMs = 0;
    // Time for one round of attempts that hang.
    const running = run(19_000);
    while (arrivedMs === 0 && performance.now() - began < 10_000) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (other.received.length === 40) arrivedMs = performance.now() - began;
    }
    const { due, left } = await running;

    expect(arrivedMs).toBeGreaterThan(0);
    expect(arrivedMs).toBeLessThan(8000);
    expect(receiver.received.length).toBe(2);
    expect(prompt.map((each) => receivedOf(each).length)).toEqual(prompt.map(() => 1));
    expect({ due, left }).toEqual({ due: 100, left: 58 });
  }, 20_000);
});
