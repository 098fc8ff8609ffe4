import { afterAll, describe, expect, test } from '@jest/globals';
import { type CheckName, checks } from '../../tools/stress/checks.ts';
import { openHarness } from '../../tools/stress/harness.ts';

const harness = await openHarness();
afterAll(harness.close);

/** The short form of a check; other seeds are for `npm run stress`. */
async function run(name: CheckName): Promise<Record<string, number>> {
  const check = await checks[name].load();
  const { violations, counts } = await check({ harness, length: 'short', seed: 1 });
  console.info(name, counts);
  expect(violations).toEqual([]);
  return counts;
}

/** For a machine busy with other test files; alone, each check takes seconds. */
const maxMs = 120_000;

describe('npm run stress -- --short: in a sample of what npm run stress tries', () => {
  test(
    'access: callers can do what the access table says and nothing more, and a rejected request changes nothing',
    async () => {
      const counts = await run('access');

      const { 'cases rejected': rejected = 0, 'cases allowed': allowed = 0 } = counts;
      expect(rejected + allowed).toBe(260);
      expect(rejected).toBeGreaterThan(100);
      expect(allowed).toBeGreaterThan(5);
      expect(counts['field writes ignored']).toBeGreaterThan(50);
    },
    maxMs,
  );

  test(
    'fuzz: no generated request gets a 5xx, or an answer that docs/openapi.json does not allow',
    async () => {
      const counts = await run('fuzz');

      expect(counts['fuzz/requests: runs']).toBe(1200);
      expect(counts['answered 200']).toBeGreaterThan(100);
      expect(counts['answered 400 invalid_request']).toBeGreaterThan(300);
    },
    maxMs,
  );

  test(
    'model: the registry does the same as its model, in random orders of operations',
    async () => {
      const counts = await run('model');

      expect(counts['model/commands: runs']).toBe(40);
      expect(counts['commands: publish']).toBeGreaterThan(20);
      expect(counts['commands: finalize']).toBeGreaterThan(10);
    },
    maxMs,
  );

  test(
    'races: concurrent callers lose no update, and exactly one wins',
    async () => {
      const counts = await run('races');

      expect(Object.keys(counts).length).toBeGreaterThanOrEqual(8);
    },
    maxMs,
  );

  test(
    'faults: no injected fault leaves anything half written, lost, stuck or paid for twice, or leaks a secret',
    async () => {
      const counts = await run('faults');

      for (const kind of ['throttle', 'delay', 'drop before', 'drop after', 'garbage', 'die'])
        expect(counts[`faults: ${kind}`]).toBeGreaterThan(5);
      expect(counts['paid requests that started 1 tasks']).toBeGreaterThan(5);
    },
    maxMs,
  );

  test(
    'spending: no caller spends more than it may, and every credit is accounted for, whatever fails',
    async () => {
      const counts = await run('spending');

      expect(counts['records taken']).toBeGreaterThan(50);
      expect(counts['records unknown']).toBeGreaterThan(5);
      // A crowd on one budget is mostly stopped by what its own running tasks hold.
      const held = counts['answers 429 too_many_requests'] ?? 0;
      expect(held).toBeGreaterThan(10);
      expect(held + (counts['answers 429 budget_exhausted'] ?? 0)).toBeGreaterThan(20);
    },
    maxMs,
  );

  test(
    'notifications: no state moves back, each change arrives, and nothing arrives that the provider did not say, whatever fails',
    async () => {
      const counts = await run('notifications');

      expect(counts['notifications/histories: runs']).toBe(25);
      expect(counts['notifications delivered']).toBeGreaterThan(20);
      expect(counts.arrivals).toBeGreaterThan(50);
      for (const kind of ['forged', 'crossed', 'oversized', 'unreadable'])
        expect(counts[`${kind} calls answered 404`]).toBeGreaterThan(2);
      expect(counts['genuine calls answered 503']).toBeGreaterThan(2);
    },
    maxMs,
  );

  test(
    'nearby: methods and paths close to the routes always get an answer, and never a 5xx',
    async () => {
      const counts = await run('nearby');

      expect(counts.requests).toBeGreaterThan(250);
    },
    maxMs,
  );
});
