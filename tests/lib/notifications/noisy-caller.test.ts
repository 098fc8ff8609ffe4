import { afterEach, expect, jest, test } from '@jest/globals';
import '../../support/patience.ts';
import { queue } from '../../support/queue.ts';
import { handler } from '../../../functions/deliver-notifications.ts';
import { callerHash } from '../../../lib/caller.ts';
import { consumeQueue } from '../../../tools/local/consume-queue.ts';
import { writeNotification } from '../../support/notifications.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from 'testing/until';

jest.setTimeout(process.env.DEAD_NOTIFICATIONS === undefined ? 60_000 : 900_000);

/** 20,000 takes minutes, nearly all of them to write the records. */
const dead = Number(process.env.DEAD_NOTIFICATIONS ?? 200);
const quiet = 4;
/** A fifth of serverless.yml's, since all invocations share one process here. */
const maximumConcurrency = 4;

const [hanging, receiver] = [await startReceiver(), await startReceiver()];
hanging.answers.push('hang');

const source = { timeoutMs: 30_000, batchSize: 10, maximumConcurrency };
const places = maximumConcurrency * source.batchSize;
let mapping: ReturnType<typeof consumeQueue> | undefined;

// Before the queue stops: the SDK's timers of connections that are refused would outlive the file.
afterEach(async () => {
  await Promise.all([hanging.stop(), receiver.stop()]);
  await mapping?.stop();
});

test('delivers another caller’s notifications first while one caller’s receivers hang', async () => {
  for (let written = 0; written < dead; written += 50)
    await Promise.all(
      Array.from({ length: 50 }, () =>
        writeNotification(hanging.url, { caller_hash: callerHash('user:noisy') }),
      ),
    );
  const queueUrl = String(process.env.NOTIFICATION_QUEUE_URL);
  mapping = consumeQueue({ queueUrl, load: async () => handler, ...source });
  // Every place is taken by a receiver that hangs.
  await until(() => hanging.received.length >= places);
  const began = Date.now();
  for (let count = 0; count < quiet; count += 1)
    await writeNotification(receiver.url, { caller_hash: callerHash('user:quiet') });
  const before = hanging.received.length;
  await until(() => receiver.received.length === quiet);
  const ms = Date.now() - began;
  const shown = queue.bodies.length - queue.waits.length;
  process.stderr.write(`${dead} dead, ${quiet} others after ${ms} ms: ${shown} left to be shown\n`);

  // What had a place by then may still arrive, and each place is given once more at most. All others wait for the quiet ones.
  expect(hanging.received.length - before).toBeLessThanOrEqual(2 * places);
  if (process.env.DEAD_NOTIFICATIONS !== undefined) expect(ms).toBeLessThan(5000);
  // The noisy caller's own are not starved: they are tried in their turn.
  expect(shown).toBeGreaterThan(0);
});
