import { afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import type { EventBridgeEvent } from 'aws-lambda';
import { handler } from '../../../functions/extract-host-nodes.ts';
import { s3 } from '../../../lib/bucket/bucket.ts';
import { extractArchive } from '../../../lib/uploads/extract-archive.ts';
import { sweepExtractions } from '../../../lib/uploads/sweep-extractions.ts';
import { demoArchive } from '../../../tools/local/demo-archive.ts';
import { seed } from '../../../tools/local/seed.ts';
import { intercept } from '../../support/intercept.ts';
import { collected } from '../../support/sweeps.ts';
import { loggedLines } from '../../support/logged-lines.ts';
import { setFields } from '../../support/registry.ts';
import { nodeVersionKey } from '../../../lib/store/keys.ts';
import { finalize, publish, put, storedVersion } from '../../support/uploads.ts';

const hourMs = 60 * 60 * 1000;
const schedule = { source: 'aws.events' } as EventBridgeEvent<'Scheduled Event', unknown>;
const context = { awsRequestId: 'an-event', getRemainingTimeInMillis: () => 120_000 };

beforeAll(async () => {
  await seed();
  // The versions of the seed are due, too.
  await sweep();
}, 60_000);

afterEach(() => {
  jest.restoreAllMocks();
});

const sweep = (context = { deadline: Date.now() + 60_000 }) =>
  collected(sweepExtractions, context, { from: 0, to: Date.now() + hourMs });

/** A published version whose event about its archive got lost some hours ago. */
async function lose(nodeId: string, hours = 1): Promise<void> {
  const upload = await publish(nodeId, '1.0.0');
  await put(upload, await demoArchive('1.0.0'));
  await finalize(upload);
  const pending_since = new Date(Date.now() - hours * hourMs).toISOString();
  await setFields(nodeVersionKey(nodeId, '1.0.0'), { pending_since });
}

test('an hourly sweep extracts the host nodes of versions whose events were lost, and logs them', async () => {
  await lose('lost');
  await handler(schedule, context);

  const version = await storedVersion('lost', '1.0.0');
  expect(version).toMatchObject({ host_node_extract_status: 'success' });
  expect(version).not.toHaveProperty('pending_shard');
  expect(loggedLines.map((line) => JSON.parse(line))).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ event: 'swept', sweep: 'host-nodes', node_id: 'lost', version: '1.0.0' }),
      expect.objectContaining({
        event: 'sweep',
        sweep: 'host-nodes',
        visited: 1,
        failed: 0,
        sweep_findings: 1,
      }),
    ]),
  );
});

test('an hourly sweep leaves what is younger than its retries, and what is older than a day', async () => {
  await lose('young', 0.05);
  await lose('old', 25);
  await handler(schedule, context);

  expect(await storedVersion('young', '1.0.0')).toMatchObject({ host_node_extract_status: 'pending' });
  expect(await storedVersion('old', '1.0.0')).toMatchObject({ host_node_extract_status: 'pending' });
  expect(Object.keys(await sweep()).sort()).toEqual(['old', 'young']);
});

test('a sweep looks as far back as its event says', async () => {
  await lose('long-lost', 24 * 30);
  const from = new Date(Date.now() - 24 * 31 * hourMs).toISOString();
  await handler({ ...schedule, from }, context);

  expect(await sweep()).toEqual({});
});

test('a sweep takes a version off the list whose host nodes were read before, such as in a ban', async () => {
  await lose('read-in-ban');
  await sweep();
  const listed = { pending_shard: 'extract-a', pending_since: new Date(Date.now() - hourMs).toISOString() };
  await setFields(nodeVersionKey('read-in-ban', '1.0.0'), listed);

  expect(await sweep()).toMatchObject({ 'read-in-ban': { finding: 'extracted_before' } });
  expect(await storedVersion('read-in-ban', '1.0.0')).not.toHaveProperty('pending_shard');
});

test('a sweep goes on after a failure, and then fails, so that Lambda repeats it', async () => {
  await lose('reachable', 3);
  await lose('unreachable', 2);
  intercept(s3(), async ({ input, send }) => {
    if (JSON.stringify(input).includes('/unreachable/')) throw new Error('S3 is down.');
    return send();
  });

  await expect(handler(schedule, context)).rejects.toThrow('1 of 2 visits of the sweep failed.');
  expect(await storedVersion('reachable', '1.0.0')).toMatchObject({ extraction: expect.anything() });
  expect(await storedVersion('unreachable', '1.0.0')).toMatchObject({ host_node_extract_status: 'pending' });
});

test('an extraction that has no time to write its entries is finished by the sweep', async () => {
  await lose('slow');
  const { archive_key } = await storedVersion('slow', '1.0.0');
  expect(await extractArchive({ deadline: Date.now() + 1_900 }, String(archive_key))).toBe('unfinished');
  expect(await storedVersion('slow', '1.0.0')).toMatchObject({ host_node_extract_status: 'pending' });

  expect(await sweep()).toMatchObject({ slow: { finding: 'success' } });
});

test('a sweep begins no extraction that might not end in its time', async () => {
  jest.restoreAllMocks();
  await lose('late');

  expect(await sweepExtractions({ deadline: Date.now() + 5000 }, { from: 0, to: Date.now() })).toMatchObject({
    visited: 0,
    unread_shards: 16,
  });
});
