import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { seed } from '../support/demo-registry.ts';
import { type ApiDocument, readApiDocument } from '../support/api-document.ts';
import { scenarios } from '../support/fault-scenarios.ts';
import { type LogReader, readLog } from '../support/log-reader.ts';
import { fc } from 'testing/properties';
import { check, counts } from 'testing/property-runs';
import { verifierOf } from '../support/verify-faults.ts';
import { faultKinds, injectFaults, strikesIn } from '../support/wire-faults.ts';

describe('a failed call to a store', () => {
  let document: ApiDocument;
  let log: LogReader;
  let faults: { stop: () => void };

  beforeAll(async () => {
    await seed();
    document = await readApiDocument();
    log = readLog();
    faults = await injectFaults();
  });

  afterAll(() => {
    faults.stop();
    log.stop();
  });

  // Scenarios mostly wait for retries, so they run concurrently, each on its own nodes.
  test('leaves nothing half written, loses no success, and gets nothing stuck', async () => {
    const verify = verifierOf(document, log);
    await Promise.all(
      Object.entries(scenarios).map(([name, { calls, run: scenario }]) => {
        let number = 0;
        const values = fc.record({
          // Each invocation of the scenario gets the next of these plans, and the last ones get none.
          plans: fc.array(strikesIn(calls), { minLength: 1, maxLength: 8, size: 'max' }),
        });
        return check(values, ({ plans }) => {
          number += 1;
          return scenario({ nodeId: `${name}-${number}`, plans: [...plans], verify });
        });
      }),
    );

    for (const kind of faultKinds) expect(counts[`faults: ${kind}`]).toBeGreaterThan(0);
    expect(log.leaks).toEqual([]);
  });
});
