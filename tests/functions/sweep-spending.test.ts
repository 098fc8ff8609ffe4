import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { handler } from '../../functions/sweep-spending.ts';
import { handler as writeIndex } from '../../functions/write-index.ts';
import { callerHash } from '../../lib/caller.ts';
import { reserve } from '../../lib/attempts/reserve.ts';
import { toAttributes } from '../../lib/store/items.ts';
import { heartbeatKey } from '../../lib/store/keys.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { streamRecord } from '../../tools/local/follow-table.ts';
import { stopDate } from '@node-registry/testing/clock';
import { failCalls } from '../support/intercept.ts';
import { storedItem } from '../support/registry.ts';
import { lines, loggedLines } from '../support/logged-lines.ts';
import { attemptOf } from '../support/spending.ts';

const minuteMs = 60_000;
const invocation = { awsRequestId: 'an-event', getRemainingTimeInMillis: () => 20_000 };

test('reports what it ended, fails if one failed, and begins nothing in its last seconds', async () => {
  const user = randomUUID();
  await reserve({ deadline: Date.now() + 5000 }, attemptOf(user));
  stopDate(Date.now() + 13 * minuteMs);
  const account = `CALLER#${callerHash(`user:${user}`)}`;
  const repair = failCalls(dynamodb, 'UpdateItemCommand', new Error('broken'), account);
  loggedLines.length = 0;
  await expect(handler({}, invocation)).rejects.toThrow('1 of 1 visits of the sweep failed.');
  repair();
  await handler({ part: { index: 1, of: 4 } }, { ...invocation, getRemainingTimeInMillis: () => 5000 });
  await handler({}, invocation);

  expect(lines().every(({ function_request_id: id }) => id === 'an-event')).toBe(true);
  expect(lines()).toMatchObject([
    { level: 'error', event: 'swept', account, causes: ['Error: broken'] },
    { level: 'info', event: 'sweep', sweep: 'spending', visited: 1, failed: 1, unvisited: 0 },
    { level: 'info', event: 'sweep', sweep: 'spending', visited: 0, unread_shards: 4 },
    { level: 'info', event: 'swept_usage', payment: 'rejected' },
    { level: 'info', event: 'swept', account, finding: 'ended' },
    { level: 'info', event: 'sweep', sweep: 'spending', visited: 1, failed: 0, sweep_findings: 1 },
  ]);
});

test('writes a heartbeat each minute, of which the index leaves a line with its lag', async () => {
  const [first, second] = ['2026-11-27T00:00:00.000Z', '2026-11-27T00:01:00.000Z'];
  for (const at of [first, second]) {
    stopDate(Date.parse(at));
    await handler({ part: { index: 0, of: 4 } }, invocation);
    await handler({ part: { index: 1, of: 4 } }, invocation);
  }
  const written = await storedItem(heartbeatKey.pk, heartbeatKey.sk);
  const record = streamRecord(toAttributes(heartbeatKey), 1);
  loggedLines.length = 0;
  const Records = record ? [record] : [];
  expect(await writeIndex({ Records }, invocation)).toEqual({ batchItemFailures: [] });

  expect(written?.at).toBe(second);
  expect(lines()).toMatchObject([{ event: 'index', records: 1, nodes: 0, lag_ms: 0 }]);
});
