import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ApiError } from '../../../lib/errors.ts';
import { type Participant, runRequest } from '../../../lib/requests/run-request.ts';
import { loggedLines } from '../../support/logged-lines.ts';
import { timed } from '../../support/timed.ts';

const answer = { statusCode: 200, headers: {}, body: '{}' };
const phases = ['prepare', 'record', 'succeed', 'fail'] as const;
type Phase = (typeof phases)[number];

let steps: string[] = [];
let progress = { isSent: false };

beforeEach(() => {
  steps = [];
  progress = { isSent: false };
  loggedLines.length = 0;
});

afterEach(() => {
  jest.useRealTimers();
});

/** Notes each of its phases, and fails in those that have an error. */
function participant(name: string, errors: Partial<Record<Phase, Error>> = {}): Participant {
  const noted = phases.map((phase) => {
    const step = async () => {
      steps.push(`${name} ${phase}`);
      if (errors[phase]) throw errors[phase];
    };
    return [phase, step];
  });
  return { name, ...Object.fromEntries(noted) };
}

function run(
  participants: Participant[],
  { isPaid = true, error }: { isPaid?: boolean; error?: Error } = {},
) {
  const send = async () => {
    steps.push('send');
    if (error) throw error;
    return { answer };
  };
  return runRequest({ participants, isPaid, send, context: { deadline: Date.now() + 10_000 } }, progress);
}

describe('a request with participants', () => {
  test('prepares them in order, records them together, sends, and ends them together', async () => {
    await run([participant('key'), participant('money')]);

    expect(steps).toEqual([
      ...['key prepare', 'money prepare', 'key record', 'money record'],
      ...['send', 'key succeed', 'money succeed'],
    ]);
    expect(progress.isSent).toBe(true);
  });

  test('records nothing before all are prepared, such as the call, which reads the key of the provider', async () => {
    const call = participant('call', { prepare: new Error('no key') });

    await expect(run([participant('key'), call, participant('money')])).rejects.toMatchObject({
      code: 'internal_error',
      payment: 'refused',
    });
    expect(steps).toEqual(['key prepare', 'call prepare', 'key fail', 'call fail', 'money fail']);
    expect(progress.isSent).toBe(false);
  });

  test('sends nothing unless all are recorded, and waits for the others first', async () => {
    let isRecorded = false;
    const slow: Participant = {
      name: 'slow',
      record: async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        isRecorded = true;
        throw new Error('second');
      },
      fail: async () => void steps.push(`slow fail after its record: ${isRecorded}`),
    };
    const key = participant('key', { record: new ApiError('unavailable') });

    await expect(run([key, slow])).rejects.toMatchObject({ code: 'unavailable', payment: 'refused' });
    expect(steps).toEqual(['key prepare', 'key record', 'key fail', 'slow fail after its record: true']);
    expect(loggedLines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', event: 'second_failure', causes: ['Error: second'] },
    ]);
  });

  const tooLarge = {
    code: 'invalid_request',
    message: 'A field of the request is too large to be recorded.',
  };

  test.each([
    [new ApiError('conflict'), { code: 'unavailable' }],
    [new ApiError('record_too_large'), tooLarge],
  ])('says that nothing was bought if one cannot be recorded: %s', async (cause, expected) => {
    const money = participant('money', { record: cause });

    await expect(run([participant('key'), money])).rejects.toMatchObject({
      ...expected,
      ...{ cause, payment: 'refused' },
    });
    expect(steps).not.toContain('send');
  });

  test('fails all of them with the error of the call', async () => {
    const error = new ApiError('provider_failed');

    await expect(run([participant('key'), participant('money')], { error })).rejects.toMatchObject({
      code: 'provider_failed',
      payment: 'unknown',
    });
    expect(steps.slice(-3)).toEqual(['send', 'key fail', 'money fail']);
  });

  test('names the task in an error after which it may have started, and in one that comes too late', async () => {
    const names: Participant = { ...participant('relay'), taskHeaders: { link: '<there>' } };
    const headers = { link: '<there>' };

    await expect(run([names], { error: new ApiError('provider_failed') })).rejects.toMatchObject({ headers });
    expect(progress).toEqual({ isSent: true, taskHeaders: headers });
    const cause = new Error('a bug');
    await expect(run([names], { error: cause })).rejects.toMatchObject({
      code: 'internal_error',
      cause,
      headers,
    });
    const refused = new ApiError('provider_busy', { payment: 'refused' });
    await expect(run([names], { error: refused })).rejects.toMatchObject({ headers: {} });
  });

  test('names the task in its answer, next to the headers of the answer', async () => {
    const relay: Participant = { ...participant('relay'), taskHeaders: { link: '<there>' } };
    const send = async () => ({ answer: { ...answer, headers: { etag: '"1"' } } });
    const request = { participants: [relay], isPaid: true, send, context: { deadline: Date.now() + 10_000 } };

    expect((await runRequest(request, progress)).headers).toEqual({ etag: '"1"', link: '<there>' });
  });

  test('ends with the answer of a participant that has one, and nothing is recorded', async () => {
    const key = { ...participant('key'), prepare: async () => ({ ...answer, body: 'kept' }) };

    expect(await run([key, participant('money')])).toMatchObject({ body: 'kept' });
    expect(steps).toEqual([]);
  });

  test('records nothing if it is not paid', async () => {
    await run([participant('key')], { isPaid: false });

    expect(steps).toEqual(['key prepare', 'send', 'key succeed']);
    expect(progress.isSent).toBe(false);
  });

  test.each(['succeed', 'fail'] as const)('answers the same if a participant cannot %s', async (phase) => {
    const broken = participant('key', { [phase]: new Error('the store failed') });
    const error = new ApiError('provider_failed');
    const result = run([broken], phase === 'fail' ? { error } : {});

    if (phase === 'fail') await expect(result).rejects.toMatchObject({ code: 'provider_failed' });
    else expect(await result).toEqual(answer);
    expect(loggedLines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', event: 'key', step: phase, causes: ['Error: the store failed'] },
    ]);
  });

  test.each([
    [10_399, true],
    [10_401, false],
  ])('waits a little past its deadline for what keeps a paid answer, %d ms: %s', async (ms, isInTime) => {
    jest.useFakeTimers();
    let isKept = false;
    const keep = async () => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      isKept = true;
    };
    await timed(run([{ name: 'key', succeed: keep }]));

    expect(isKept).toBe(isInTime);
    expect(loggedLines.join().includes('the store took too long')).toBe(!isInTime);
  });

  test('adds all participants to the response, and stores no momentary headers', async () => {
    const kept: unknown[] = [];
    const shows = (text: string): Participant => ({
      name: text,
      inAnswer: (given) => ({ ...given, body: given.body + text }),
      succeed: async (sent) => void kept.push(sent.answer),
      headers: () => ({ [text]: 'now' }),
    });

    expect(await run([shows('a'), shows('b')])).toEqual({
      ...answer,
      body: '{}ab',
      headers: { a: 'now', b: 'now' },
    });
    expect(kept).toEqual([
      { ...answer, body: '{}ab' },
      { ...answer, body: '{}ab' },
    ]);
  });
});
