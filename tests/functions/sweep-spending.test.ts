import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { handler } from '../../functions/sweep-spending.ts';
import { callerHash } from '../../lib/caller.ts';
import { reserve } from '../../lib/spend/reservation.ts';
import { dynamodb } from '../../lib/store/table.ts';
import { stopDate } from 'testing/clock';
import { intercept } from '../support/intercept.ts';
import { loggedLines } from '../support/logged-lines.ts';

const minuteMs = 60_000;
const invocation = { awsRequestId: 'an-event', getRemainingTimeInMillis: () => 20_000 };

test('reports corrections, fails if one failed, and begins nothing in its last seconds', async () => {
  const caller = `user:${randomUUID()}`;
  await reserve({ deadline: Date.now() + 5000 }, { caller, ceiling: 50 });
  stopDate(Date.now() + 10 * minuteMs);
  const repair = intercept(dynamodb, ({ command, input, send }) => {
    const isAccount = JSON.stringify(input).includes(`CALLER#${callerHash(caller)}`);
    if (command === 'UpdateItemCommand' && isAccount) throw new Error('broken');
    return send();
  });
  loggedLines.length = 0;
  await expect(handler({}, invocation)).rejects.toThrow('1 of 1 visits of the sweep failed.');
  repair();
  await handler({}, { ...invocation, getRemainingTimeInMillis: () => 5000 });
  await handler({}, invocation);

  const lines = loggedLines.map((line) => JSON.parse(line));
  const account = `CALLER#${callerHash(caller)}`;
  expect(lines.every(({ function_request_id: id }) => id === 'an-event')).toBe(true);
  expect(lines).toMatchObject([
    { level: 'error', event: 'swept', account, causes: ['Error: broken'] },
    { level: 'info', event: 'sweep', sweep: 'spending', visited: 1, failed: 1, unvisited: 0 },
    { level: 'info', event: 'sweep', sweep: 'spending', visited: 0, unread_shards: 16 },
    { level: 'info', event: 'swept', account, finding: 'corrected' },
    { level: 'info', event: 'sweep', sweep: 'spending', visited: 1, failed: 0, sweep_findings: 1 },
  ]);
});
