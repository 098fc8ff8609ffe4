import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Context } from '../../../lib/context.ts';
import { absent, Plus, present } from '../../../lib/store/items.ts';
import { type Key, nodeKey } from '../../../lib/store/keys.ts';
import { get } from '../../../lib/store/read.ts';
import { dynamodb } from '../../../lib/store/table.ts';
import { checking, put, putting, remove, transact, update, updateOnce } from '../../../lib/store/write.ts';
import { intercept } from '../../support/intercept.ts';
import { inSeconds } from '../../support/timed.ts';

interface Letters extends Key {
  a?: number;
  b?: number;
  c?: number;
}

const write_id = expect.any(String);
const unused = () => nodeKey(randomUUID());

/** A record of its own for each test, as it is stored. */
async function stored(letters: Omit<Letters, keyof Key> = {}): Promise<Letters> {
  const record = { ...unused(), ...letters };
  await put(inSeconds(9), record, absent);
  return record;
}

const itemOf = async (key: Key) => (await get(inSeconds(9), key))[0];

/** The store applies the first call, and its answer is lost. Returns the inputs of all calls. */
function loseFirstAnswer(): object[] {
  const asked: object[] = [];
  intercept(dynamodb, async ({ input, send }) => {
    asked.push(input);
    const answer = await send();
    if (asked.length === 1) throw Object.assign(new Error('no answer'), { name: 'TimeoutError' });
    return answer;
  });
  return asked;
}

async function withFirstAnswerLost<Result>(write: (context: Context) => Promise<Result>) {
  const asked = loseFirstAnswer();
  const result = await write(inSeconds(9)).catch((error: unknown) => error);
  return { result, calls: asked.length };
}

describe('a write that the store applied without an answer', () => {
  test('is recognized when it is sent again', async () => {
    const [record, key] = [{ ...unused(), a: 1 }, await stored({ a: 1 })];
    const change = (context: Context) => update<Letters>(context, key, { a: 2 }, [['a', '=', 1]]);

    expect(await withFirstAnswerLost((context) => put(context, record, absent))).toEqual({
      result: { written: true, item: { ...record, write_id } },
      calls: 2,
    });
    expect(await withFirstAnswerLost(change)).toEqual({
      result: { written: true, item: { ...key, a: 2, revision: 1, write_id } },
      calls: 2,
    });
  });

  test('is recognized by the store when it is sent again: transact', async () => {
    const [first, second] = [unused(), await stored({ a: 1 })];
    const write = (context: Context) =>
      transact(context, [putting<Letters>({ ...first, a: 3 }, absent), checking(second, present)]);

    expect(await withFirstAnswerLost(write)).toEqual({ result: [], calls: 2 });
    expect(await itemOf(first)).toEqual({ ...first, a: 3 });
  });

  test('answers that nothing is left: remove', async () => {
    const key = await stored({ a: 1 });

    expect(await withFirstAnswerLost((context) => remove(context, key, present))).toEqual({
      result: { written: false, found: undefined },
      calls: 2,
    });
  });
});

describe('an addition that the store applied without an answer', () => {
  const added = { a: new Plus(1) };

  test('is sent again by update, and counts once if its condition compares an attribute that it removes', async () => {
    const key = await stored({ a: 1, b: 2, c: 3 });
    const change = (context: Context) =>
      update<Letters>(context, key, { ...added, b: null }, [
        ['c', '=', 3],
        ['b', '=', 2],
      ]);
    const { b: _, ...rest } = key;

    expect(await withFirstAnswerLost(change)).toEqual({
      result: { written: true, item: { ...rest, a: 2, revision: 1, write_id } },
      calls: 2,
    });
  });

  test('is not sent again by updateOnce', async () => {
    const key = await stored({ a: 1 });
    const change = (context: Context) => updateOnce<Letters>(context, key, added, present);

    expect(await withFirstAnswerLost(change)).toMatchObject({ result: { code: 'unavailable' }, calls: 1 });
    expect(await itemOf(key)).toMatchObject({ a: 2 });
  });
});

test('a write answers what another one stored in its place', async () => {
  const key = await stored({ a: 1 });
  const found = { ...key, write_id };

  expect(await put(inSeconds(9), { ...key, a: 2 }, absent)).toEqual({ written: false, found });
  expect(await update<Letters>(inSeconds(9), key, { a: 2 }, [['a', '=', 9]])).toEqual({
    written: false,
    found,
  });
  expect(await remove<Letters>(inSeconds(9), key, [['a', '=', 9]])).toEqual({ written: false, found });
  expect(await update<Letters>(inSeconds(9), unused(), { a: 2 }, present)).toEqual({
    written: false,
    found: undefined,
  });
});
