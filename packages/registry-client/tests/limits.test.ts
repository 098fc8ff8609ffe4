import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { blockCaller, setLimits, unblockCaller } from '../../admin/spend/terms.ts';
import { demo } from '../../../tools/local/demo.ts';
import { seed } from '../../../tools/local/seed.ts';
import { createRegistryClient, type ErrorCode, type RegistryClient } from '../client.ts';
import { errorOf } from '../../../tests/support/client-errors.ts';
import { startHttpApi } from '../../../tests/support/http-api.ts';
import { acceptedTasks } from '../../../tests/support/proxies.ts';
import { spender } from '../../../tests/support/spending.ts';
import { bearer } from '../../../tests/support/tokens.ts';

const api = await startHttpApi();
const image = 'https://example.com/image.png';

beforeAll(seed);
beforeEach(() => api.reset());
afterAll(() => api.stop());

const clientOf = (user: string, options = {}) =>
  createRegistryClient({ baseUrl: api.url, accessToken: bearer(user).replace('Bearer ', ''), ...options });

/** What a program does with each of the codes. */
function adviceFor({ code, retryAfter }: { code: ErrorCode; retryAfter: number | undefined }): string {
  switch (code) {
    case 'budget_exhausted':
      return retryAfter === undefined ? 'too dear for any day' : 'tomorrow';
    case 'too_many_requests':
      return 'in a minute';
    case 'caller_blocked':
      return 'never';
    default:
      return 'unknown';
  }
}

describe('the client of a caller with limits', () => {
  const relight = (client: RegistryClient, given = {}) => client.images.relight({ image }, given);

  test('fails at once with budget_exhausted, and has the seconds until midnight UTC', async () => {
    const client = clientOf(await spender({ tasks_per_day: 1 }));
    await relight(client);
    api.reset();
    const error = await errorOf(relight(client));
    const untilMidnight = (86_400_000 - (Date.now() % 86_400_000)) / 1000;

    expect(error).toMatchObject({ code: 'budget_exhausted', status: 429, requestId: expect.any(String) });
    // The service spreads those who wait over half a minute.
    const late = Number(error.retryAfter) - untilMidnight;
    expect(late).toBeGreaterThan(-5);
    expect(late).toBeLessThan(35);
    expect(adviceFor(error)).toBe('tomorrow');
    // Waiting is worth it only in the last minute of a day.
    if (untilMidnight > 65) expect(api.received).toHaveLength(1);
  });

  test('fails at once with budget_exhausted and no time if a task costs more than a whole day may', async () => {
    const client = clientOf(await spender({ credits_per_day: 5 }));
    const error = await errorOf(client.videos.fromText({ prompt: 'Rain' }));

    expect(error).toMatchObject({ code: 'budget_exhausted', status: 429, retryAfter: undefined });
    expect(error.message).toContain('more than the 5 of a whole day');
    expect(adviceFor(error)).toBe('too dear for any day');
    expect(api.received).toHaveLength(1);
  });

  test('has the start of the next minute after too_many_requests', async () => {
    const client = clientOf(await spender({ requests_per_minute: 1 }), { patienceMs: 0 });
    // The two calls may fall into two minutes; three cannot be in more than two.
    const errors = await Promise.all(
      [1, 2, 3].map(() =>
        relight(client).then(
          () => undefined,
          (error) => error,
        ),
      ),
    );
    const error = errors.find((each) => each !== undefined);

    expect(error).toMatchObject({ code: 'too_many_requests', status: 429 });
    expect(error.retryAfter).toBeGreaterThan(0);
    expect(error.retryAfter).toBeLessThanOrEqual(90);
    expect(adviceFor(error)).toBe('in a minute');
  });

  test('reads the remaining budget from the headers of each response', async () => {
    const client = clientOf(await spender({ tasks_per_day: 3 }));
    const left: unknown[] = [];
    const onResponse = ({ headers }: Response) => left.push(headers.get('ratelimit'));
    await relight(client, { onResponse });
    await relight(client, { onResponse });

    expect(left).toEqual([2, 1].map((tasks) => expect.stringContaining(`"tasks-per-day";r=${tasks};`)));
  });
});

describe('the client of a blocked caller', () => {
  const blocked = 'user:blocked-client';

  afterEach(() => unblockCaller(blocked));

  test('fails at once with caller_blocked on every paid call, and on no other', async () => {
    await blockCaller(blocked, 'A leaked token');
    const client = clientOf('blocked-client');
    const frame = { key_image: image, prompt: 'x' };
    const calls = [
      () => client.images.relight({ image }),
      () => client.videos.fromText({ prompt: 'Rain' }),
      () => client.videos.extend({ model: 'vidq2-turbo', video_creation_id: '1', video_url: image }),
      () =>
        client.videos.multiframe({
          model: 'vidq2-turbo',
          start_image: image,
          image_settings: [frame, frame],
        }),
    ];
    for (const call of calls) {
      api.reset();
      const error = await errorOf(call());

      expect(error).toMatchObject({ code: 'caller_blocked', status: 403, retryAfter: undefined });
      expect(error.message).toBe('The operator of this service has blocked this caller.');
      expect(adviceFor(error)).toBe('never');
      expect(api.received).toHaveLength(1);
    }
    expect(acceptedTasks()).toBe(0);
    const [entry] = await client.versions.bulk([{ node_id: demo.nodeId, version: demo.version }]);
    expect(entry?.status).toBe('success');
  });
});

test('lets the next call of the client through when a limit is lifted', async () => {
  const user = await spender({ tasks_per_day: 1 });
  const client = clientOf(user);
  await client.images.relight({ image });
  expect((await errorOf(client.images.relight({ image }))).code).toBe('budget_exhausted');
  await setLimits(`user:${user}`, { tasks_per_day: 0 });

  expect((await client.images.relight({ image })).data.task_id).toEqual(expect.any(String));
});
