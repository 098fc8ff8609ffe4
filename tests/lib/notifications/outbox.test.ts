import { expect, test } from '@jest/globals';
import { readWaiting } from '../../../lib/notifications/outbox.ts';
import { writeNotification } from '../../support/notifications.ts';

test('what waits for its turn takes less than a kilobyte, however long its address, host and body', async () => {
  const written = await Promise.all(
    ['https://caller.example.com/', `https://${'a'.repeat(100_000)}.example/`].map((beginning) =>
      writeNotification(`${beginning}?${'x'.repeat(100_000)}`, { body: `{"text":"${'x'.repeat(60_000)}"}` }),
    ),
  );
  const waiting: object[] = [];
  for await (const batch of readWaiting({ deadline: Date.now() + 5000 }, written)) waiting.push(...batch);

  expect(waiting).toHaveLength(2);
  for (const each of waiting) expect(JSON.stringify(each).length).toBeLessThan(1000);
});
