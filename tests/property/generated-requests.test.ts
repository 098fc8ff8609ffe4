import assert from 'node:assert/strict';
import { expect, test } from '@jest/globals';
import { type ApiDocument, readApiDocument } from '../support/api-document.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { call } from '../support/endpoints.ts';
import { type GeneratedRequest, generatedRequests } from '../support/generated-requests.ts';
import { intercept } from '../support/intercept.ts';
import type { Result } from '../support/invoke.ts';
import { check, count, counts, runsOf } from '@node-registry/testing/property-runs';
import { simulation } from '../support/proxies.ts';
import { emptyTable, readTable, restoreTable } from '../support/table-image.ts';
import { seed } from '../../tools/local/seed.ts';

const weight = 40;

/**
 * Generated requests: no answer of 500 or above, each one according to docs/openapi.json, nothing accepted that the
 * document does not allow, and no trace of a rejected request in the table or at a provider. Every request meets the
 * same table, so that a failure can be replayed.
 */
test('answers no generated request with a 5xx, or in a way that docs/openapi.json does not allow', async () => {
  await emptyTable();
  await seed();
  const before = await readTable();
  const document = await readApiDocument();
  /** Every write that the table accepted, as it was sent. */
  const writes: string[] = [];
  intercept(dynamodb, async ({ command, input, send }) => {
    const output = await send();
    if (!/^(?:BatchGet|Get|Query)/.test(command)) writes.push(`${command} ${JSON.stringify(input)}`);
    return output;
  });
  await check(
    generatedRequests(document),
    async (request) => {
      writes.length = 0;
      simulation.reset();
      const answer = await call(request.name, request);
      count(`answered ${answer.status}`);
      const written = [...writes];
      if (written.length > 0) {
        const after = await readTable();
        await restoreTable(before, after);
        for (const [key, { state }] of after)
          assert.ok(!['running', 'sent'].includes(String(state?.S)), `${key} is never released`);
      }
      verify(document, request, answer);
      if (answer.status < 400) return;
      // What the provider rejects leaves its usage record.
      if (simulation.received.length > 0 && answer.body.error === 'provider_rejected') return;
      // Every request with an Idempotency-Key writes and removes its record.
      const others = written.filter((write) => !write.includes('IDEMPOTENCY#'));
      assert.deepEqual(others, [], `rejected, but written: ${answer.text}`);
      const isSent = simulation.received.length > 0;
      assert.ok(!isSent || answer.body.error.startsWith('provider_'), `rejected, but sent: ${answer.text}`);
    },
    { weight },
  );

  expect(counts['answered 200']).toBeGreaterThan(runsOf(weight) / 20);
  expect(counts['answered 400']).toBeGreaterThan(runsOf(weight) / 8);
});

function verify(document: ApiDocument, request: GeneratedRequest, answer: Result): void {
  const { name, text, isBase64Encoded } = request;
  assert.ok(answer.status < 500, `a 5xx: ${answer.text}`);
  document.verify(name, name === 'bulk-node-versions' ? withTexts(answer) : answer);
  assert.ok(!/\n\s+at |node_modules|\.[jt]s:\d/.test(answer.text), `an answer with a stack: ${answer.text}`);
  if (answer.status >= 300) return;
  const body = isBase64Encoded ? Buffer.from(text, 'base64').toString() : text;
  const sent = JSON.parse(body.replace(/^\ufeff/, ''));
  if (name === 'bulk-node-versions') sent.node_versions = sent.node_versions.filter(hasTexts);
  const isTaken = body.isWellFormed() && document.takes(name, sent);
  assert.ok(isTaken, `accepted, against the document: ${answer.text}`);
}

/** A pair of other values is its entry's error, which repeats it as it came. */
function withTexts(answer: Result): Result {
  const entries: { identifier: Record<string, unknown> }[] = answer.body.node_versions ?? [];
  const node_versions = entries.filter(({ identifier }) => hasTexts(identifier));
  return answer.status === 200 ? { ...answer, body: { node_versions } } : answer;
}

function hasTexts(pair: Record<string, unknown>): boolean {
  return [pair.node_id ?? '', pair.version ?? ''].every((value) => typeof value === 'string');
}
