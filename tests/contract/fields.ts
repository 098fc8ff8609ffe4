import { expect } from '@jest/globals';
import type { Result } from '../support/invoke.ts';
import { simulation } from '../support/proxies.ts';

/*
 * The fields of the contract. Each row quotes a row of it and says what is accepted and what is rejected, on both sides of
 * each limit. Where the contract states nothing, the row shows that the value passes.
 */

export interface Row {
  /** Values that arrive as they were sent. */
  takes?: readonly unknown[];
  /** Values that arrive as something that means the same. */
  reads?: readonly (readonly [sent: unknown, arrived: unknown])[];
  /** Rejected values, each with the message of its 400. */
  rejects?: readonly (readonly [value: unknown, message: string])[];
  /** The value that goes out for a field that is absent, null, "" or []. */
  standard?: unknown;
  isRequired?: boolean;
}

export const texts = {
  isText: 'must be text',
  isFlag: 'must be true or false',
  isWhole: 'must be a whole number',
};
export const noNumber = 'must be a number';
export const noList = 'must be a list';
const noWebAddress = 'must be an absolute https URL';
const noImage = 'must be base64 data, an absolute URL or a data URI';

export const anyText: Row = {
  takes: ['x', ' ', 'naïve 画像 🖼', 'x'.repeat(5000), 'a \ufffd b'],
  rejects: eachIs([5, {}], texts.isText),
};
export const flag: Row = { takes: [true, false], rejects: eachIs(['true', 1], texts.isFlag) };
export const webAddress: Row = {
  takes: ['https://example.com/a', 'http://localhost:1/x?y=z#a'],
  reads: [[' https://example.com/a\n', 'https://example.com/a']],
  rejects: [
    ...eachIs('example.com|/path|//example.com|ftp://a.com|https:///x|http:x|https://a b', noWebAddress),
    [5, texts.isText],
  ],
};
/** "Base64 data or URL". */
export const imageSource: Row = {
  takes: [
    ...'iVBOR/w0K+Ggo=|iVBOR_w0K-Ggo|https://example.com/a.png|HTTP://localhost/a|s3://b/a b.png'.split('|'),
    ...'asset:42|ssupload:?id=1|file:///a|data:image/png;base64,iVBORw0=|DATA:;BASE64,iVBO%2Fw0='.split('|'),
    ...['data:image/svg+xml;charset=utf-8;base64,iVBORw0=', 'data:image/svg+xml,%3Csvg/%3E', 'data:,x'],
    'iVBOR/w0K+Ggo='.repeat(100_000),
  ],
  rejects: [
    ...eachIs('no image!|a.b|A|/a.png|//a.com/a|https://|https:///a|:a|data:image/png;base64,', noImage),
    ['data:image/png;base64,*', noImage],
    [5, texts.isText],
  ],
};
export const requiredImage: Row = {
  ...imageSource,
  isRequired: true,
  rejects: [...(imageSource.rejects ?? []), [undefined, 'is required'], [null, texts.isText], ['', noImage]],
};
/** A double would round some of these, and writes the others in another way. */
export const writtenNumbers = Object.fromEntries(
  '1e20 9007199254740993 -9007199254740992 1e400 -0 1.0 2.50 1E-7 0.1000000000000000055 0.5'
    .split(' ')
    .map((number) => [`n${number}`, [{ of: JSON.rawJSON(number) }]]),
);

/** Values that get one message. */
export function eachIs(
  values: string | unknown[],
  message: string,
): (readonly [value: unknown, message: string])[] {
  const all: unknown[] = typeof values === 'string' ? values.split('|') : values;
  return all.map((value) => [value, message]);
}

export function wholeNumber(min: number, max: number, standard?: number): Row {
  return {
    takes: [min, max],
    rejects: [
      [min - 1, `must be at least ${min}`],
      [max + 1, `must be at most ${max}`],
      [min + 0.5, texts.isWhole],
      [String(min), noNumber],
    ],
    standard,
  };
}

export function oneOf(values: readonly string[], standard?: string): Row {
  const message = `must be one of ${values.join(', ')}`;
  const others = [`${values[0]} `, values[0]?.toUpperCase(), 'constructor', 1];
  return { takes: values, rejects: others.map((value) => [value, message] as const), standard };
}

export function required(row: Row, ...others: unknown[]): Row {
  const [, message = ''] = row.rejects?.[0] ?? [];
  const unset = [[undefined, 'is required'] as const, ...eachIs([null, '', ...others], message)];
  return { ...row, isRequired: true, rejects: [...(row.rejects ?? []), ...unset] };
}

/** An emoji is one character. */
export function upTo(maxCharacters: number): Row {
  const message = `must have at most ${maxCharacters} characters`;
  return {
    takes: ['x'.repeat(maxCharacters), '🙂'.repeat(maxCharacters)],
    rejects: [
      ...eachIs(['x'.repeat(maxCharacters + 1), '🙂'.repeat(maxCharacters + 1)], message),
      [5, texts.isText],
    ],
  };
}

export function nested(depth: number): unknown {
  return depth === 0 ? 'x' : [nested(depth - 1)];
}

/** How one field is sent in a request, and where it arrives: at the provider, or in the record. */
export interface Target {
  send: (field: string, value: unknown) => Promise<Result>;
  arrived: (result: Result, field: string) => unknown;
  /** What a field becomes that is cleared or left out. */
  unset: readonly unknown[];
  /** The path of the object that has the field. */
  within: string;
}

export async function expectRow(target: Target, field: string, row: Row): Promise<void> {
  const unset = row.isRequired ? [] : target.unset.map((value) => [value, row.standard] as const);
  const same = (row.takes ?? []).map((value) => [value, value] as const);
  for (const [sent, expected] of [...same, ...(row.reads ?? []), ...unset]) {
    simulation.reset();
    const result = await target.send(field, sent);
    expectTaken(sent, result);
    const arrived = await target.arrived(result, field);
    // Comparing megabytes with toEqual would print them.
    if (JSON.stringify(arrived) !== JSON.stringify(expected))
      throw new Error(`${shown(sent)} arrived as ${shown(arrived)}`);
  }
  simulation.reset();
  for (const [value, message] of row.rejects ?? []) {
    const { status, body } = await target.send(field, value);
    const rejected = [400, 'invalid_request', [{ path: `${target.within}.${field}`, message }]];
    expect([shown(value), status, body.error, body.details]).toEqual([shown(value), ...rejected]);
  }
  expect(simulation.received).toEqual([]);
}

export function expectTaken(value: unknown, { status, body }: Result): void {
  const details = status < 300 ? undefined : body.details;
  expect([shown(value), status < 300, details]).toEqual([shown(value), true, undefined]);
}

function shown(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 80);
}
