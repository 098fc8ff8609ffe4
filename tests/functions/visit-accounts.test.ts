import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { stopDate } from '@node-registry/testing/clock';
import { handler } from '../../functions/visit-accounts.ts';
import { reserve } from '../../lib/attempts/reserve.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { beforeNext } from '../support/intercept.ts';
import { lines } from '../support/logged-lines.ts';
import { runQueue } from '../support/queue.ts';
import { accountOf, attemptOf } from '../support/spending.ts';
import { handOver } from '../support/work.ts';
import { soon } from '../support/registry.ts';

test('an account is visited once the lease of its oldest attempt is over, and again while that fails', async () => {
  stopDate();
  const user = randomUUID();
  await reserve(soon(), attemptOf(user));
  stopDate(Date.now() + 13 * 60_000);
  for (const tries of [1, 2]) {
    await handOver();
    beforeNext(dynamodb, /^UpdateItem/, () => Promise.reject(new Error('broken')));
    await runQueue(handler, 'visit');
    expect(await accountOf(user)).toMatchObject({ open: 1, tries, last_error: 'Error: broken' });
    expect(lines('work').at(-1)).toMatchObject({ level: 'error', tries, causes: ['Error: broken'] });
    stopDate(Date.now() + 10 * 60_000);
  }
  await handOver();
  await runQueue(handler, 'visit');

  const account = await accountOf(user);
  expect(account).toMatchObject({ open: 0 });
  for (const name of ['pending_shard', 'tries', 'last_error']) expect(account).not.toHaveProperty(name);
  expect(lines('visit')).toMatchObject([{ payment: 'rejected' }]);
});
