import { beforeAll, describe, expect, test } from '@jest/globals';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { seed } from '../../tools/local/seed.ts';
import { handlers } from '../support/endpoints.ts';
import { intercept } from '../support/intercept.ts';
import { type Changes, invoke } from '../support/invoke.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { endpointNames as names } from '../support/operation-names.ts';
import '../support/proxies.ts';

/** What every endpoint answers while its store fails. */
const call = (name: string, changes: Changes = {}) => invoke(handlers.get(name), name, changes);

beforeAll(async () => {
  await seed();
  // Fetches the key set of tokens, for which a test that stops the clock or ends early has no time.
  await call('update-node');
});

describe.each(names)('%s', (name) => {
  test('answers a fixed 500 to an unknown error, and logs the cause', async () => {
    const secret = 'the connection string of the store';
    await breakStore(name, new Error(secret));
    loggedLines.length = 0;
    const { status, text, body } = await call(name);

    expect(status).toBe(500);
    const message = 'Something went wrong on our side.';
    expect(body).toEqual({ error: 'internal_error', message, request_id: `sample-${name}` });
    expect(text).not.toContain(secret);
    expect(loggedLines.join('')).toContain(secret);
  });

  test.each([
    ['is down', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }), 29_000],
    ['hangs', new Promise<never>(() => {}), 600],
  ])('answers 503 in time and with Retry-After when the store %s', async (_, failure, remainingMs) => {
    await breakStore(name, failure, remainingMs);
    const { status, headers, body } = await call(name, { remainingMs });

    expect([status, body.error]).toEqual([503, 'unavailable']);
    expect(headers['retry-after']).toMatch(/^(?:[1-9]|10)$/);
  });
});

/** Breaks every call to the store, which every operation makes. */
async function breakStore(name: string, failure: Error | Promise<never>, remainingMs?: number) {
  let asked = false;
  intercept(dynamodb, async () => {
    asked = true;
    throw await failure;
  });
  await call(name, { ...(remainingMs && { remainingMs }) });
  expect(asked).toBe(true);
}
