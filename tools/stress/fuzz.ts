import assert from 'node:assert/strict';
import { type ApiDocument, readApiDocument } from './api-document.ts';
import { type CheckOptions, CheckRun } from './check.ts';
import { seed } from './fixtures.ts';
import { type FuzzedRequest, fuzzedRequests, requestsAtBounds } from './fuzz-requests.ts';
import type { HarnessAnswer } from './harness.ts';
import type { Report } from './report.ts';
import { readTable, restoreTable, watchWrites } from './stores.ts';

export const fuzzRuns = { short: 1200, usual: 24_000, long: 72_000 };

/** A request that takes longer has found code whose time grows faster than its input. */
const maxMs = 5000;

/**
 * Generated requests: no answer of 500 or above, each one according to docs/openapi.json, nothing accepted that the
 * document does not allow, and no trace of a rejected request in the table or at a provider. Every request meets the
 * same table, so that a failure can be replayed.
 */
export async function checkFuzz(options: CheckOptions): Promise<Report> {
  const run = new CheckRun(options);
  const { harness, length } = options;
  await seed();
  const before = await readTable();
  const document = await readApiDocument(harness);
  const writes = watchWrites();
  const onRejection = (reason: unknown) => run.report.violate('an unhandled rejection', String(reason));
  process.on('unhandledRejection', onRejection);
  try {
    await run.property({
      name: 'fuzz/requests',
      runs: fuzzRuns[length],
      values: fuzzedRequests(harness, document),
      examples: requestsAtBounds(harness, document),
      holds: async (request) => {
        writes.done.length = 0;
        harness.simulation.reset();
        const began = performance.now();
        const answer = await harness.call(request.name, request);
        const ms = performance.now() - began;
        run.report.count(`answered ${answer.status} ${answer.body.error ?? ''}`.trim());
        const written = [...writes.done];
        if (written.length > 0) {
          const after = await readTable();
          await restoreTable(before, after);
          for (const [key, { state }] of after)
            assert.ok(!['running', 'sent'].includes(String(state?.S)), `${key} is never released`);
        }
        assert.ok(ms < maxMs, `an answer after ${ms} ms`);
        verify(document, request, answer);
        if (answer.status < 400) return;
        // Every request with an Idempotency-Key writes and removes its record.
        const others = written.filter((write) => !write.includes('IDEMPOTENCY#'));
        assert.deepEqual(others, [], `rejected, but written: ${answer.text}`);
        const isSent = harness.simulation.received.length > 0;
        assert.ok(!isSent || answer.body.error.startsWith('provider_'), `rejected, but sent: ${answer.text}`);
      },
    });
  } finally {
    process.off('unhandledRejection', onRejection);
    writes.stop();
  }
  return run.report;
}

function verify(document: ApiDocument, request: FuzzedRequest, answer: HarnessAnswer): void {
  const { name, text, isBase64Encoded } = request;
  assert.ok(answer.status < 500, `a 5xx: ${answer.text}`);
  document.verify(name, answer);
  assert.ok(!/\n\s+at |node_modules|\.[jt]s:\d/.test(answer.text), `an answer with a stack: ${answer.text}`);
  if (answer.status >= 300) return;
  const body = isBase64Encoded ? Buffer.from(text, 'base64').toString() : text;
  const isTaken = body.isWellFormed() && document.takes(name, JSON.parse(body));
  assert.ok(isTaken, `accepted, against the document: ${answer.text}`);
}
