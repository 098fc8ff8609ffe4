import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { S3Event } from 'aws-lambda';
import { handler } from '../../../functions/finalize-upload.ts';
import { s3 } from '../../../lib/bucket/bucket.ts';
import { dynamodb } from '../../../lib/store/table.ts';
import { seed } from '../../../tools/local/seed.ts';
import { stopDate } from 'testing/clock';
import { beforeNext, intercept } from '../../support/intercept.ts';
import { sampleEvent } from '../../support/invoke.ts';
import { loggedLines } from '../../support/logged-lines.ts';
import { addListedVersion } from '../../support/registry.ts';
import { eventOf, publish, put, storedVersion } from '../../support/uploads.ts';
import { zip } from 'testing/zip';

const remainingMs = 60_000;
const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

function handle(event: S3Event | object): Promise<void> {
  loggedLines.length = 0;
  return handler(event as S3Event, {
    awsRequestId: 'an-event',
    getRemainingTimeInMillis: () => remainingMs,
  });
}

const lines = () => loggedLines.map((line) => JSON.parse(line));

beforeAll(async () => {
  await seed();
});

afterEach(() => {
  jest.restoreAllMocks();
});

describe('an S3 event', () => {
  test('finalizes each decoded key, until a second before the invocation ends', async () => {
    stopDate();
    const label = '1.0.0+cu118';
    const uploads = [await publish('decoded', label), await publish('decoded-too', label)];
    for (const upload of uploads) await put(upload, zip([{ name: 'node.py', data: 'x' }]));
    const claimed: unknown[] = [];
    const look = async () => claimed.push((await storedVersion('decoded', label)).checked_until);
    beforeNext(s3(), /CopyObject/, look);
    await handle(eventOf(...uploads));

    expect(claimed).toEqual([Date.now() + remainingMs - secondMs]);
    for (const { nodeId } of uploads)
      expect(await storedVersion(nodeId, label)).toMatchObject({ status: 'NodeVersionStatusActive' });
  });

  test('leaves a log line with the result of the upload, its duration and its age', async () => {
    const { Records } = JSON.parse(JSON.stringify(sampleEvent('finalize-upload')));
    Records[0].s3.object.key = 'key';
    stopDate(Date.parse(Records[0].eventTime) + 10 * secondMs);
    jest.spyOn(process, 'uptime').mockReturnValueOnce(1.1).mockReturnValueOnce(1.1124);
    await handle({ Records });

    expect(lines()).toEqual([
      expect.objectContaining({
        level: 'info',
        event: 'upload',
        function: 'finalizeUpload',
        function_request_id: 'an-event',
        key: 'key',
        outcome: 'unknown',
        ms: 12,
        lag_ms: 10 * secondMs,
      }),
    ]);
  });

  test('succeeds without records', async () => {
    await handle({ Records: [] });

    expect(lines()).toEqual([]);
  });
});

describe('a scheduled event', () => {
  /** A version that only its node does not show yet, as its latest. */
  function addListed(nodeId: string, since: number): Promise<void> {
    return addListedVersion('demo', nodeId, new Date(since).toISOString(), {
      status: 'NodeVersionStatusActive',
      host_node_extract_status: 'success',
    });
  }

  const swept = () => lines().flatMap(({ event, node_id }) => (event === 'swept' ? [node_id] : []));

  test.each([
    ['seconds', 19, 'Z', 0],
    ['minutes', 16, 'Z', 0],
    ['fractions', 19, '.5Z', 500],
  ])(
    'sweeps as far back as the event says in %s, for what a restore left pending',
    async (unit, length, zone, milliseconds) => {
      stopDate();
      const minute = Math.floor(Date.now() / minuteMs) * minuteMs - 500 * hourMs;
      const since = minute + milliseconds;
      await addListed(`${unit}-before`, since - 1);
      await addListed(unit, since);
      await handle({ from: new Date(minute).toISOString().slice(0, length) + zone });

      expect(swept()).toContain(unit);
      expect(swept()).not.toContain(`${unit}-before`);
    },
  );

  test.each([
    'yesterday',
    '2026-11-01',
    '2026-13-01T00:00:00Z',
    '+012026-11-01T00:00:00Z',
    '2026-11-01T00:00:00Z[UTC]',
    '2026-11-01T00:00:00',
    ['2026-11-01T00:00:00Z'],
    '2999-11-20T12:00:00Z',
    1_700_000_000,
    null,
    'a minute ago',
  ])('sweeps nothing and fails if the event says from %j', async (said) => {
    stopDate();
    const from = said === 'a minute ago' ? new Date(Date.now() - minuteMs).toISOString() : said;

    await expect(handle({ from })).rejects.toThrow(
      'The event\'s "from" must be a past time such as "2026-11-20T00:00:00Z".',
    );
    expect(lines()).toEqual([]);
  });

  test('fails when a visit failed, so that Lambda repeats it', async () => {
    await addListed('fails', Date.now() - hourMs);
    intercept(dynamodb, ({ command, send }) => {
      if (command === 'TransactWriteItemsCommand') throw new Error('the store is down');
      return send();
    });

    await expect(handle({})).rejects.toThrow(/^1 of \d+ visits of the sweep failed\.$/);
  });
});
