import assert from 'node:assert/strict';
import { expect, test } from '@jest/globals';
import { actors } from '../support/access-actors.ts';
import { type AccessCase, accessCases } from '../support/access-cases.ts';
import { personalTokens, populate } from '../support/access-fixtures.ts';
import { call } from '../support/endpoints.ts';
import type { Result } from '../support/invoke.ts';
import { fc } from 'testing/properties';
import { check, count, counts } from 'testing/property-runs';
import { simulation } from '../support/proxies.ts';
import { differences, readTable, restoreTable } from '../support/table-image.ts';

const writes = ['update-node', 'publish-node-version', 'update-host-node'];

test('lets callers do what the access table says and nothing more, and changes nothing for a rejected request', async () => {
  await populate();
  const before = await readTable();
  await check(
    fc.constantFrom(...accessCases()),
    async (accessCase) => {
      simulation.reset();
      const answer = await attempt(accessCase);
      const after = await readTable();
      const changed = differences(before, after);
      if (changed.length > 0) await restoreTable(before, after);
      verify(accessCase, answer, changed);
    },
    { weight: 10 },
  );

  expect(counts.allowed).toBeGreaterThan(0);
  expect(counts.rejected).toBeGreaterThan(0);
});

function attempt({ actor, operation, request }: AccessCase): Promise<Result> {
  const authorization = actors[actor]();
  const body = request.body as { personal_access_token?: keyof typeof personalTokens } | undefined;
  const kind = body?.personal_access_token;
  const withToken = kind
    ? { ...request, body: { ...body, personal_access_token: personalTokens[kind] } }
    : request;
  return call(operation, { ...withToken, headers: { authorization } });
}

function verify({ operation, rejections }: AccessCase, answer: Result, changed: string[]): void {
  const isDone = answer.status < 300;
  count(isDone ? 'allowed' : 'rejected');
  const isRight = rejections.length === 0 ? isDone : rejections.includes(answer.body.error);
  assert.ok(isRight, `expected ${rejections.join(' or ') || 'success'}: ${answer.text}`);
  if (isDone) {
    assert.ok(changed.length > 0 || !writes.includes(operation), 'succeeded, but changed nothing');
    return;
  }
  assert.deepEqual(changed, [], 'rejected, but changed');
  assert.equal(simulation.received.length, 0, 'rejected, but sent to the provider');
}
