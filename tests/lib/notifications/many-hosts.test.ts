import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { callerHash } from '../../../lib/caller-hash.ts';
import { resolver } from '../../../lib/notifications/addresses.ts';
import { deliverDue, deliverNew } from '../../../lib/notifications/deliver.ts';
import { startNameServer } from '../../support/name-server.ts';
import { emptyOutbox, storedNotification, writeNotification } from '../../support/notifications.ts';
import { startReceiver } from '../../support/receiver.ts';

const names = await startNameServer();
resolver.setServers([names.address]);
const receiver = await startReceiver();

beforeEach(async () => {
  await emptyOutbox();
  receiver.received.length = 0;
});

afterAll(() => Promise.all([names.stop(), receiver.stop()]));

const mallory = { caller_hash: callerHash('user:mallory') };
const writeSilent = (count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      writeNotification(`https://silent.name${index}.example/`, mallory),
    ),
  );
const writeGood = () => Promise.all([writeNotification(receiver.url), writeNotification(receiver.url)]);

/** How long until both good notifications arrived, while `running` goes on. */
async function arrivalMs(running: Promise<unknown>): Promise<number> {
  const began = performance.now();
  let isOver = false;
  const over = running.finally(() => {
    isOver = true;
  });
  while (receiver.received.length < 2 && !isOver) await new Promise((resolve) => setTimeout(resolve, 20));
  const ms = performance.now() - began;
  await over;
  expect(receiver.received).toHaveLength(2);
  return ms;
}

describe('a caller that names hundreds of hosts, none of which is ever found,', () => {
  test('does not delay the notifications of another caller in the same run', async () => {
    await writeSilent(400);
    const good = await writeGood();
    // Time for one round of names that are never found.
    const running = deliverDue({ deadline: Date.now() + 15_500 });

    expect(await arrivalMs(running)).toBeLessThan(3000);
    expect(await running).toMatchObject({ due: 402, left: 392, errors: [] });
    for (const each of good) expect(await storedNotification(each)).toMatchObject({ result: 'delivered' });
  }, 20_000);

  test('does not delay those of another caller in the same batch of the stream', async () => {
    const written = [...(await writeSilent(8)), ...(await writeGood())];

    expect(await arrivalMs(deliverNew({ deadline: Date.now() + 30_000 }, written))).toBeLessThan(2000);
  }, 20_000);
});
