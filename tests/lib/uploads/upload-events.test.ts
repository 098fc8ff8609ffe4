import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { EventBridgeEvent, S3Event } from 'aws-lambda';
import type { Swept } from '../../../lib/uploads/sweep-uploads.ts';
import { uploadEvents } from '../../../lib/uploads/upload-events.ts';
import { sampleEvent } from '../../support/invoke.ts';
import { loggedLines } from '../../support/logged-lines.ts';

type Handlers = Parameters<typeof uploadEvents>[0];

const now = Date.parse('2026-11-20T12:00:10.000Z');
const remainingMs = 60_000;
const secondMs = 1000;
const hourMs = 3600 * secondMs;

/** Hands an event to the handler at a fixed time; a step that the test does not provide must not run. */
async function handle(event: S3Event | object, handlers: Partial<Handlers>): Promise<void> {
  jest.spyOn(Date, 'now').mockReturnValue(now);
  jest.spyOn(process, 'uptime').mockReturnValueOnce(1.1).mockReturnValueOnce(1.1124);
  loggedLines.length = 0;
  const unexpected = () => Promise.reject(new Error('unexpected'));
  const handler = uploadEvents({
    finalize: unexpected,
    sweep: unexpected,
    alsoHourly: async () => {},
    ...handlers,
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
      finalize: async (...call) => {
        calls.push(call);
        return 'published';
      },
    });

    const deadline = now + remainingMs - secondMs;
    expect(calls).toEqual([
      [{ deadline }, 'a b+c', 'an-event'],
      [{ deadline }, 'é f ', 'an-event'],
    ]);
  });

  test('is logged with the result of the upload, its duration and its age', async () => {
    await handle(eventAbout('key'), { finalize: async () => 'refused' });

    expect(lines()).toEqual([
      expect.objectContaining({
        level: 'info',
        event: 'upload',
        function: 'finalizeUpload',
        key: 'key',
        outcome: 'refused',
        ms: 12,
        lag_ms: 10 * secondMs,
      }),
    ]);
  });

  test('goes on after a record that fails, and then fails with every error', async () => {
    const failure = new Error('S3 is down.');
    const work = handle(eventAbout('bad', 'good', 'bad'), {
      finalize: async (_, key) => {
        if (key === 'bad') throw failure;
        return 'published';
      },
    });

    await expect(work).rejects.toMatchObject({
      message: '2 uploads could not be finalized.',
      errors: [failure, failure],
    });
    expect(lines().map(({ level, event, outcome, causes }) => [level, event, outcome, causes])).toEqual([
      ['error', 'upload', 'failed', ['Error: S3 is down.']],
      ['info', 'upload', 'published', undefined],
      ['error', 'upload', 'failed', ['Error: S3 is down.']],
    ]);
  });

  test('is accepted without records', async () => {
    await expect(handle(eventAbout(), {})).resolves.toBeUndefined();
  });
});

describe('a scheduled event', () => {
  function swept(...findings: Swept['finding'][]): Swept[] {
    return findings.map((finding) => ({
      nodeId: finding,
      version: '1.0.0',
      versionId: 'id',
      reason: '',
      since: '',
      reasonCode: undefined,
      awaits: undefined,
      archiveKey: undefined,
      finding,
      ...(finding === 'failed' && { error: new Error('S3 is down.') }),
    }));
  }

  test('sweeps the last six hours except for the last minute', async () => {
    const calls: unknown[] = [];
    await handle(
      {},
      {
        sweep: async (...call) => {
          calls.push(call);
          return [];
        },
      },
    );

    const deadline = now + remainingMs - secondMs;
    expect(calls).toEqual([[{ deadline }, { from: now - 6 * hourMs, to: now - 60 * secondMs }]]);
    expect(lines()).toEqual([
      expect.objectContaining({ level: 'info', event: 'sweep', versions: 0, failed: 0, sweep_findings: 0 }),
    ]);
  });

  test.each(['2026-11-01T00:00:00Z', '2026-11-01T00:00Z', '2026-11-01T00:00:00.5Z'])(
    'sweeps as far back as the event says, for what a restore left pending: from %s',
    async (from) => {
      const calls: unknown[] = [];
      await handle(
        { from },
        {
          sweep: async (...call) => {
            calls.push(call);
            return [];
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
  ])('sweeps nothing and fails if the event says from %j, but does what is also hourly', async (from) => {
    const alsoHourly = jest.fn(async () => {});

    await expect(handle({ from }, { alsoHourly })).rejects.toThrow(
      'The event\'s "from" must be a past time such as "2026-11-20T00:00:00Z".',
    );
    expect(alsoHourly).toHaveBeenCalledTimes(1);
  });

  test('counts as findings only what an event should have done', async () => {
    await handle(
      {},
      { sweep: async () => swept('published', 'completed', 'unvisited', 'waiting', 'refused', 'abandoned') },
    );

    expect(lines().at(-1)).toMatchObject({ event: 'sweep', versions: 6, failed: 0, sweep_findings: 3 });
    expect(lines()[0]).toMatchObject({
      level: 'info',
      event: 'swept',
      node_id: 'published',
      version: '1.0.0',
      finding: 'published',
    });
    expect(lines()[0]).not.toHaveProperty('causes');
  });

  test('fails with what one of its parts failed with', async () => {
    const error = new Error('DynamoDB is down.');

    const work = handle({}, { sweep: async () => [], alsoHourly: () => Promise.reject(error) });

    await expect(work).rejects.toBe(error);
  });

  test('fails when a version failed, and says why', async () => {
    const work = handle({}, { sweep: async () => swept('failed', 'waiting', 'failed') });

    await expect(work).rejects.toThrow('2 of 3 versions could not be swept.');
    expect(lines().map(({ level, event, causes }) => [level, event, causes])).toEqual([
      ['error', 'swept', ['Error: S3 is down.']],
      ['info', 'swept', undefined],
      ['error', 'swept', ['Error: S3 is down.']],
      ['info', 'sweep', undefined],
    ]);
    expect(lines().at(-1)).toMatchObject({ failed: 2, sweep_findings: 2 });
  });

  test('fails with every error when both of its sweeps fail', async () => {
    const work = handle(
      {},
      {
        sweep: () => Promise.reject(new Error('S3 is down.')),
        alsoHourly: () => Promise.reject(new Error('DynamoDB is down.')),
      },
    );

    await expect(work).rejects.toMatchObject({
      message: 'Error: S3 is down. Error: DynamoDB is down.',
      errors: [new Error('S3 is down.'), new Error('DynamoDB is down.')],
    });
  });
});
