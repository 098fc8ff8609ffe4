import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { fileOf, loadContracts } from '../../infra/operations.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { seed } from '../../tools/local/seed.ts';
import { handlers } from '../support/endpoints.ts';
import { intercept } from '../support/intercept.ts';
import { type Changes, invoke } from '../support/invoke.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { endpointNames as names } from '../support/operation-names.ts';
import { timed } from '../support/timed.ts';
import '../support/proxies.ts';

/** What every endpoint gives its callers, whatever its schemas and its work. One echoes for the rest: tests/lib/http. */
const contracts = await loadContracts();

const call = (name: string, changes: Changes = {}) => invoke(handlers.get(name), name, changes);

beforeAll(async () => {
  await seed();
  // Fetches the key set of tokens, for which a test that stops the clock or ends early has no time.
  await call('update-node');
});

/** The lists of all operations. */
const listFields = 'tags tags_admin dependencies supported_os output_is_list images node_versions'.split(' ');

const hugeBodies: Record<string, string> = {
  'a million wrong items in each list': `{${listFields.map((field) => `"${field}":[${'1,'.repeat(90_000)}1]`)}}`,
  'a key of 5 MB': `{"${'k'.repeat(5_000_000)}":1,"translations":{"${'l'.repeat(500_000)}":1}}`,
  'a hundred thousand languages': `{"translations":{${manyKeys(100_001)}}}`,
  'a thousand wrong pairs': `{"node_versions":[${'1,'.repeat(999)}1]}`,
  'a thousand wrong frames': `{"image_settings":[${'{"key_image":1},'.repeat(999)}{}]}`,
  'an id nested 10,000 deep': `{"node_versions":[{"node_id":${'['.repeat(10_000)}${']'.repeat(10_000)}}]}`,
  'a list nested 500,000 deep': `{"tags":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
};

function successOf(name: string): number {
  return contracts.find((contract) => fileOf(contract.name) === name)?.status ?? 0;
}

function manyKeys(count: number): string {
  return Array.from({ length: count }, (_, index) => `"l${index}":1`).join();
}

describe.each(names)('%s', (name) => {
  test('answers its sample event as JSON, with the request id of the gateway', async () => {
    const { status, headers } = await call(name);

    expect(status).toBe(successOf(name));
    expect(headers['content-type']).toBe('application/json');
    expect(headers['x-request-id']).toBe(`sample-${name}`);
  });

  test.each(Object.entries(hugeBodies))('lists at most 100 issues of %s', async (kind, rawBody) => {
    const { status, body, text } = await call(name, { rawBody });
    const issues = (body.details ?? []).length;

    expect([successOf(name), 400, 413]).toContain(status);
    if (body.error === 'invalid_request') expect(issues).toBeGreaterThan(0);
    expect(issues).toBeLessThanOrEqual(100);
    if (kind === 'a thousand wrong pairs' && name === 'bulk-node-versions') expect(issues).toBe(100);
    expect(text.length).toBeLessThan(60_000);
  });

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

  test('answers 503 within 2.5 s and eight repeats while the store throttles everything', async () => {
    jest.useFakeTimers();
    loggedLines.length = 0;
    const reason = { reason: 'TableWriteKeyRangeThroughputExceeded', resource: 'arn:of:the:table' };
    let calls = 0;
    intercept(dynamodb, async () => {
      calls += 1;
      const name = 'ProvisionedThroughputExceededException';
      throw Object.assign(new Error('slow down'), { name, ThrottlingReasons: [reason] });
    });
    const { result, ms } = await timed(call(name));
    jest.useRealTimers();

    expect(result?.status).toBe(503);
    expect(ms).toBeLessThan(2500);
    expect(calls).toBeLessThanOrEqual(1 + 8);
    expect(loggedLines.join('')).toContain(
      '"throttled":["TableWriteKeyRangeThroughputExceeded arn:of:the:table"]',
    );
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
