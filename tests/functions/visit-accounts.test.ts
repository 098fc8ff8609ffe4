import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { stopDate } from '@node-registry/testing/clock';
import { handler } from '../../functions/visit-accounts.ts';
import { reserve } from '../../lib/attempts/reserve.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { failCalls } from '../support/intercept.ts';
import { lines } from '../support/logged-lines.ts';
import { runQueue } from '../support/queue.ts';
import { accountOf, attemptOf } from '../support/spending.ts';
import { handOver } from '../support/work.ts';

test('an account is visited once the lease of its oldest attempt is over, and again if that fails', async () => {
  stopDate();
  const user = randomUUID();
  await reserve({ deadline: Date.now() + 5000 }, attemptOf(user));
  stopDate(Date.now() + 13 * 60_000);
  await handOver();
  const repair = failCalls(dynamodb, 'UpdateItemCommand', new Error('broken'));
  await runQueue(handler, 'visit');
  repair();
  expect(await accountOf(user)).toMatchObject({ open: 1 });
  expect(lines('work')).toMatchObject([{ level: 'error', lane: 'visit', causes: ['Error: broken'] }]);
  stopDate(Date.now() + 10 * 60_000);
  await handOver();
  await runQueue(handler, 'visit');

  expect(await accountOf(user)).toMatchObject({ open: 0 });
  expect(await accountOf(user)).not.toHaveProperty('pending_shard');
  expect(lines('visit')).toMatchObject([{ payment: 'rejected' }]);
});
