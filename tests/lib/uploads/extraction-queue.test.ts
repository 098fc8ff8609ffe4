import { beforeEach, expect, test } from '@jest/globals';
import type { EventBridgeEvent } from 'aws-lambda';
import { handler } from '../../../functions/extract-host-nodes.ts';
import { nodeVersionKey } from '../../../lib/store/keys.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { handOverExtractions } from '../../../lib/uploads/extraction-queue.ts';
import { drainQueue } from '../../../tools/local/consume-queue.ts';
import { demoArchive } from '../../../tools/local/demo-archive.ts';
import { seed } from '../../../tools/local/seed.ts';
import { stopDate } from '@node-registry/testing/clock';
import { beforeNext, failCalls, intercept } from '../../support/intercept.ts';
import { lines, loggedLines } from '../../support/logged-lines.ts';
import { extractions, unreadable } from '../../support/queue.ts';
import { setFields } from '../../support/registry.ts';
import { extractionEvent, finalize, publish, put, storedVersion } from '../../support/uploads.ts';

const hourMs = 60 * 60 * 1000;
const schedule = { source: 'aws.events' } as EventBridgeEvent<'Scheduled Event', unknown>;
const context = { getRemainingTimeInMillis: () => 120_000 };

let isSeeded = false;

beforeEach(async () => {
  if (!isSeeded) await seed();
  isSeeded = true;
  // Whatever other tests left is handed over and read.
  await handler(schedule, context);
  await readAll();
});

/** Delivers the messages that wait, after their delay. Returns their number. */
function readAll(): Promise<number> {
  extractions.advance(5000);
  return drainQueue(extractions, handler);
}

/** A published version whose message got lost some hours ago. */
async function lose(nodeId: string, hours = 1): Promise<void> {
  const upload = await publish(nodeId, '1.0.0');
  await put(upload, demoArchive('1.0.0'));
  await finalize(upload);
  const pending_since = new Date(Date.now() - hours * hourMs).toISOString();
  await setFields(nodeVersionKey(nodeId, '1.0.0'), { pending_since, pending_shard: 'extract-0' });
}

const summary = () => lines('sweep').findLast(({ sweep }) => sweep === 'host-nodes');

const handed = () => extractions.bodies.map((body) => String(JSON.parse(body).key).split('/')[1]).sort();

test('sends all due work to the queue, however old, and logs the number', async () => {
  await lose('lost');
  await lose('long-lost', 24 * 30);
  await handler(schedule, context);

  expect(handed()).toEqual(['long-lost', 'lost']);
  expect(summary()).toMatchObject({ handed: 2, failed: 0, sweep_findings: 2, sweep_unvisited: 0 });
  expect(await readAll()).toBe(2);
  const version = await storedVersion('lost', '1.0.0');
  expect(version).toMatchObject({ host_node_extract_status: 'success' });
  expect(version).not.toHaveProperty('pending_shard');
});

test('hands nothing over twice: not while it waits in the queue, and not if two runs meet', async () => {
  await lose('waiting');
  const met = beforeNext(dynamodb, /^UpdateItemCommand$/, () => handler(schedule, context));
  await handler(schedule, context);
  await handler(schedule, context);

  expect([met.happened(), handed()]).toEqual([true, ['waiting']]);
});

test('takes a version off the list whose host nodes were read before, such as in a ban', async () => {
  await lose('read-in-ban');
  await handler(schedule, context);
  await readAll();
  const listed = { pending_shard: 'extract-a', pending_since: new Date(Date.now() - hourMs).toISOString() };
  await setFields(nodeVersionKey('read-in-ban', '1.0.0'), listed);
  await handler(schedule, context);
  await readAll();

  expect(await storedVersion('read-in-ban', '1.0.0')).not.toHaveProperty('pending_shard');
});

test('continues after a failure, and then fails', async () => {
  await lose('reachable');
  await lose('unreachable');
  intercept(dynamodb, async ({ command, input, send }) => {
    if (command === 'UpdateItemCommand' && JSON.stringify(input.Key).includes('#unreachable'))
      throw new Error('The store is down.');
    return send();
  });

  await expect(handler(schedule, context)).rejects.toThrow('1 versions could not be handed to the queue.');
  expect(handed()).toEqual(['reachable']);
});

test('leaves what the queue did not take for the next hour', async () => {
  await lose('rejected');
  await lose('rejected-too');
  stopDate();
  extractions.faults.isDown = true;
  await expect(handler(schedule, context)).rejects.toThrow('2 versions could not be handed to the queue.');
  extractions.faults.isDown = false;

  expect(summary()).toMatchObject({ handed: 0, failed: 2, sweep_findings: 2 });
  for (const nodeId of ['rejected', 'rejected-too'])
    expect(await storedVersion(nodeId, '1.0.0')).toMatchObject({
      pending_since: new Date(Date.now() + hourMs).toISOString(),
    });
});

test('fails if the list cannot be read, and says how many shards it left', async () => {
  failCalls(dynamodb, 'QueryCommand', new Error('The index is down.'));

  await expect(handler(schedule, context)).rejects.toThrow('1 versions could not be handed to the queue.');
  expect(summary()).toMatchObject({ failed: 1, sweep_findings: 1, sweep_unvisited: 16 });
});

test('begins no page without ten seconds for it', async () => {
  await lose('late');
  stopDate();

  const none = { handed: 0, failed: 0, unread_shards: 16 };
  expect(await handOverExtractions({ deadline: Date.now() + 10_000 })).toEqual(none);
  expect(summary()).toMatchObject({ sweep_findings: 0, sweep_unvisited: 16 });
  const all = { handed: 1, failed: 0, unread_shards: 0 };
  expect(await handOverExtractions({ deadline: Date.now() + 10_001 })).toEqual(all);
});

test('moves a pack that kills its function five times to the dead letters, and delays no other', async () => {
  await lose('killer');
  await lose('quiet');
  await handler(schedule, context);
  const killed: string[] = [];
  const crash: typeof handler = async (event, invocation) => {
    const { batchItemFailures = [] } =
      JSON.stringify(event).includes('/killer/') && 'Records' in event
        ? { batchItemFailures: event.Records.map(({ messageId }) => ({ itemIdentifier: messageId })) }
        : ((await handler(event, invocation)) ?? {});
    killed.push(...batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    return { batchItemFailures };
  };
  for (const _ of [1, 2, 3, 4, 5, 6]) {
    extractions.advance(720_000);
    await drainQueue(extractions, crash, 1);
  }

  expect(await storedVersion('quiet', '1.0.0')).toMatchObject({ host_node_extract_status: 'success' });
  expect(killed).toHaveLength(5);
  expect(unreadable.bodies.join()).toContain('/killer/');
});

test('reads a version within seconds that becomes active after its message, and leaves another to its listing', async () => {
  const archive = demoArchive('1.0.0');
  const uploads = [await publish('soon-active', '1.0.0'), await publish('never-active', '1.0.0')] as const;
  for (const upload of uploads) {
    await put(upload, archive);
    expect(await handler(extractionEvent(upload, archive), context)).toEqual({ batchItemFailures: [] });
  }
  await finalize(uploads[0]);
  await readAll();
  expect(await storedVersion('soon-active', '1.0.0')).toMatchObject({ host_node_extract_status: 'success' });

  for (let seconds = 10; extractions.bodies.length > 0 && seconds < 1000; seconds *= 2) {
    extractions.advance(1000 * seconds);
    await drainQueue(extractions, handler);
  }
  const early = loggedLines.filter((line) => line.includes('"early"') && line.includes('/never-active/'));
  expect([early.length, unreadable.bodies.join().includes('never-active')]).toEqual([7, false]);
});
