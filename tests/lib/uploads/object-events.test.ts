import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { EventBridgeEvent, S3Event } from 'aws-lambda';
import type { SweepReport } from '../../../lib/store/due.ts';
import { objectEvents } from '../../../lib/uploads/object-events.ts';
import { sampleEvent } from '../../support/invoke.ts';
import { loggedLines } from '../../support/logged-lines.ts';

type Work = Parameters<typeof objectEvents>[0];

const now = Date.parse('2026-11-20T12:00:10.000Z');
const remainingMs = 60_000;
const secondMs = 1000;
const hourMs = 3600 * secondMs;

/** Hands an event to the handler at a fixed time; a step that the test does not provide must not run. */
async function handle(event: S3Event | object, work: Partial<Work>): Promise<void> {
  jest.spyOn(Date, 'now').mockReturnValue(now);
  jest.spyOn(process, 'uptime').mockReturnValueOnce(1.1).mockReturnValueOnce(1.1124);
  loggedLines.length = 0;
  const unexpected = () => Promise.reject(new Error('unexpected'));
  const handler = objectEvents({
    function: 'finalizeUpload',
    line: 'upload',
    handle: unexpected,
    sweep: unexpected,
    lookBackMs: 6 * hourMs,
    graceMs: 60 * secondMs,
    ...work,
  });
  await handler(event as S3Event | EventBridgeEvent<'Scheduled Event', unknown>, {
    awsRequestId: 'an-event',
    getRemainingTimeInMillis: () => remainingMs,
  });
}

/** S3's event about these keys, ten seconds old. */
function eventAbout(...keys: string[]): S3Event {
  const [sample] = (JSON.parse(JSON.stringify(sampleEvent('finalize-upload'))) as S3Event).Records;
  if (!sample) throw new Error('The sample has no record.');
  const Records = keys.map((key) => ({
    ...sample,
    s3: { ...sample.s3, object: { ...sample.s3.object, key } },
  }));
  return { Records };
}

const lines = () => loggedLines.map((line) => JSON.parse(line));

afterEach(() => {
  jest.restoreAllMocks();
});

describe('an S3 event', () => {
  test('finalizes each decoded key, until a second before the invocation ends', async () => {
    const calls: unknown[] = [];
    await handle(eventAbout('a+b%2Bc', '%C3%A9+f+'), {
      handle: async (...call) => {
        calls.push(call);
        return 'published';
      },
    });

    const context = { deadline: now + remainingMs - secondMs, openCalls: new Set() };
    expect(calls).toEqual([
      [context, 'a b+c', 'an-event'],
      [context, 'é f ', 'an-event'],
    ]);
  });

  test('leaves a log line with the result of the upload, its duration and its age', async () => {
    await handle(eventAbout('key'), { handle: async () => 'refused' });

    expect(lines()).toEqual([
      expect.objectContaining({
        level: 'info',
        event: 'upload',
        function: 'finalizeUpload',
        function_request_id: 'an-event',
        key: 'key',
        outcome: 'refused',
        ms: 12,
        lag_ms: 10 * secondMs,
      }),
    ]);
  });

  test('succeeds without records', async () => {
    await handle(eventAbout(), {});

    expect(lines()).toEqual([]);
  });
});

describe('a scheduled event', () => {
  const report: SweepReport = { findings: {}, visited: 3, failed: 0, unvisited: 0, unread_shards: 0 };

  test.each(['2026-11-01T00:00:00Z', '2026-11-01T00:00Z', '2026-11-01T00:00:00.5Z'])(
    'sweeps as far back as the event says, for what a restore left pending: from %s',
    async (from) => {
      const calls: unknown[] = [];
      await handle(
        { from },
        {
          sweep: async (...call) => {
            calls.push(call);
            return report;
          },
        },
      );

      expect(calls).toMatchObject([[{}, { from: Date.parse(from), to: now - 60 * secondMs }]]);
    },
  );

  test.each([
    'yesterday',
    '2026-11-01',
    '2026-13-01T00:00:00Z',
    '+012026-11-01T00:00:00Z',
    '2026-11-01T00:00:00Z[UTC]',
    '2026-11-01T00:00:00',
    new Date(now - 60 * secondMs).toISOString(),
    ['2026-11-01T00:00:00Z'],
    '2026-11-20T12:00:00Z',
    1_700_000_000,
    null,
  ])('sweeps nothing and fails if the event says from %j', async (from) => {
    await expect(handle({ from }, {})).rejects.toThrow(
      'The event\'s "from" must be a past time such as "2026-11-20T00:00:00Z".',
    );
  });

  test('fails when a visit failed, so that Lambda repeats it', async () => {
    const work = handle({}, { sweep: async () => ({ ...report, failed: 2 }) });

    await expect(work).rejects.toThrow('2 of 3 visits of the sweep failed.');
  });
});
