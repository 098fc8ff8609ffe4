import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Contract } from '../../../lib/contract.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { Changes } from '../../support/invoke.ts';
import { open } from '../../support/open-endpoint.ts';
import { bearer } from '../../support/tokens.ts';

describe('an Idempotency-Key', () => {
  const olga = bearer('olga');
  const proxy = { access: { userUnless: 'PROXY_ACCESS_TOKEN' } } as const;

  /** An operation that counts the runs of its handler; a call returns the count, and the answer's status or code. */
  function counted(changes: Partial<Contract> = {}) {
    let runs = 0;
    const { call } = open({ idempotent: true, ...changes }, async () => {
      runs += 1;
      return { body: { a: 1 } };
    });
    return async (key: string, authorization?: string, rest: Changes = {}) => {
      const sent = { 'idempotency-key': key, authorization };
      const { status, headers, body } = await call({ ...rest, headers: sent });
      return [runs, body.error ?? status, headers['idempotent-replayed'], body.a];
    };
  }

  test('belongs to its caller, or to the token in the body, or to all callers without a token', async () => {
    const key = randomUUID();
    const body = (text: string) => ({ body: { text } });
    const byBody = counted({ access: { ...proxy.access, bodyToken: 'text' } });
    const byNobody = counted(proxy);

    const calls = [
      [byBody, olga, 'a', 1, 201],
      [byBody, bearer('mats'), 'a', 2, 201],
      [byBody, undefined, 'a', 3, 201],
      [byBody, undefined, 'b', 4, 201],
      [byBody, olga, 'b', 4, 'idempotency_mismatch'],
      [byNobody, undefined, 'a', 1, 201],
      [byNobody, undefined, 'b', 1, 'idempotency_mismatch'],
      [byNobody, bearer('anonymous'), 'b', 2, 201],
    ] as const;
    for (const [ask, authorization, text, ...expected] of calls)
      expect((await ask(key, authorization, body(text))).slice(0, 2)).toEqual(expected);
  });

  test('is free again after a request that failed', async () => {
    const failures = [new ApiError('conflict'), new Error('broken')];
    const { call } = open({ idempotent: true }, async () => {
      const failure = failures.shift();
      if (failure) throw failure;
      return { body: {} };
    });
    const headers = { 'idempotency-key': randomUUID() };
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await call({ headers })).status);

    expect(statuses).toEqual([409, 500, 201]);
  });

  test('belongs to one operation, one path and one body', async () => {
    const key = randomUUID();
    const ask = counted();
    const other = counted({ name: 'other' });
    const mismatch = [1, 'idempotency_mismatch', undefined, undefined];

    expect(await ask(key)).toEqual([1, 201, undefined, 1]);
    expect(await ask(key, undefined, { path: { place: 'there' } })).toEqual(mismatch);
    expect(await ask(key, undefined, { body: { text: 'x' } })).toEqual(mismatch);
    expect(await other(key)).toEqual([0, ...mismatch.slice(1)]);
    expect(await ask(key)).toEqual([1, 201, 'true', 1]);
  });
});
