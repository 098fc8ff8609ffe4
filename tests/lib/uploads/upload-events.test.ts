import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { S3Event } from 'aws-lambda';
import { Readable } from 'node:stream';
import { hashPersonalAccessToken } from '@node-registry/registry-rules/personal-access-tokens';
import { handler } from '../../../functions/finalize-upload.ts';
import { s3 } from '../../../lib/bucket/bucket.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { seed } from '../../../tools/local/seed.ts';
import { stopDate } from '@node-registry/testing/clock';
import type { Context } from '../../../lib/context.ts';
import { sweepUploads } from '../../../lib/uploads/upload-events.ts';
import { beforeNext, failCalls, intercept } from '../../support/intercept.ts';
import { sampleEvent } from '../../support/invoke.ts';
import { lines, loggedLines } from '../../support/logged-lines.ts';
import { addListedVersion, addPublisher, addToken, uploadOf } from '../../support/registry.ts';
import { eventOf, publish, put, storedVersion } from '../../support/uploads.ts';
import { zip } from '@node-registry/testing/zip';

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

beforeAll(seed);

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

  test('counts and names what an event should have finished, and no upload that never came', async () => {
    await handle({});
    const now = Date.now();
    stopDate(now - 31 * minuteMs);
    await publish('given-up', '1.0.0');
    stopDate(now - 29 * minuteMs);
    await publish('on-its-way', '1.0.0');
    const upload = await publish('lost-event', '1.0.0');
    stopDate(now);
    await put(upload, zip([{ name: 'node.py', data: 'x' }]));
    await addListed('half-done', now - hourMs);
    await handle({});

    expect(swept().sort()).toEqual(['half-done', 'lost-event']);
    expect(lines().at(-1)).toMatchObject({ sweep: 'uploads', findings: { waiting: 1 }, sweep_findings: 2 });
  });

  test.each([
    ['the table', () => failCalls(dynamodb, 'TransactWriteItemsCommand', new Error('down'))],
    ['the bucket', () => failCalls(s3(), 'HeadObjectCommand', new Error('down'))],
  ])('fails when a visit failed because of %s, so that Lambda repeats it', async (_, fail) => {
    await addListed('fails', Date.now() - hourMs);
    await addListedVersion('demo', 'fails-too', new Date(Date.now() - hourMs).toISOString());
    fail();

    await expect(handle({})).rejects.toThrow(/^\d+ of \d+ visits of the sweep failed\.$/);
  });
});

describe('sweepUploads', () => {
  const day = (date: string) => Date.parse(`${date}T00:00:00.000Z`);
  let token: Promise<string>;

  beforeAll(async () => {
    await addPublisher('acme', {});
    token = addToken('acme');
  });

  /** A version on the pending list since then. */
  async function addPending(nodeId: string, since: number): Promise<void> {
    const token_hash = hashPersonalAccessToken(await token);
    await addListedVersion('acme', nodeId, new Date(since).toISOString(), { token_hash });
  }

  /** The findings, by the node of each version. */
  async function sweep(context: Context, from: number) {
    const found: Record<string, unknown> = {};
    await sweepUploads(context, { from, to: from }, ({ node_id }, visited) => {
      found[node_id] = visited;
    });
    return found;
  }

  test.each([
    [4_999, {}],
    [5_000, { 'never-came': { finding: 'abandoned' } }],
  ])('begins no visit that may not end in time: with %d ms left it finds %j', async (ms, found) => {
    const since = day('2021-01-01');
    await addPending('never-came', since);
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now);

    expect(await sweep({ deadline: now + ms }, since)).toEqual(found);
  });

  test.each([
    [100, 84, 'unvisited'],
    [100, 86, 'rejected'],
    [5_000, 124, 'unvisited'],
    [5_000, 126, 'rejected'],
  ])('checks an archive of %d MB with %d s left: %s', async (megabytes, seconds, finding) => {
    const nodeId = `large-${megabytes}-${seconds}`;
    const at = day('2023-01-01') + megabytes * hourMs + seconds;
    await addPending(nodeId, at);
    await put(uploadOf(nodeId), Buffer.from('no zip'));
    // Of so many zeros as it says it has, only the beginning is read.
    intercept(s3(), async ({ command, send }) => {
      if (command === 'GetObjectCommand') return { Body: Readable.from([Buffer.alloc(256 * 1024)]) };
      const output = await send();
      return command === 'HeadObjectCommand' ? { ...output, ContentLength: megabytes * 1e6 } : output;
    });
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now);

    expect(await sweep({ deadline: now + seconds * 1000 }, at)).toEqual({ [nodeId]: { finding } });
  });
});
