import { expect, test } from '@jest/globals';
import { invoke, sampleBody } from './invoke.ts';
import { type ProxyName, proxies, simulation } from './proxies.ts';

/** A field (dots lead into others), values that it takes, and values one step beyond. */
export type Limit = [field: string, taken: unknown[], refused: unknown[]];

const address = 'https://example.com/a.png';
const notImages = ['ftp://example.com/a.png', 'file:///etc/passwd', 'http://', 'data:text/html,x', 5, null];

export const images = [address, 'http://localhost/a', 'data:image/jpeg;base64,/9j/4A==', 'iVBOR/w0K+Ggo='];

export const image = (field: string): Limit => [field, images, [undefined, '', ...notImages]];
export const optionalImage = (field: string): Limit => [field, ['', undefined, ...images], notImages];
export const webAddress = (field: string): Limit => [
  field,
  ['', undefined, address, 'http://localhost:1/x?y=z#a'],
  ['example.com', '/path', '//example.com', 'ftp://example.com', 'javascript:alert(1)', 5, null],
];
export const flag = (field: string): Limit => [field, [true, false, undefined], ['true', 1, null]];
export const choice = (field: string, ...values: string[]): Limit => [
  field,
  values,
  [`${values[0]} `, 'other', 'constructor', 1, null],
];
export const wholeNumber = (field: string, least: number, greatest: number): Limit => [
  field,
  [least, greatest],
  [least - 1, greatest + 1, least + 0.5, String(least), null],
];
/** An emoji counts as one character, though it is two code units. */
export const text = (field: string, longest: number): Limit => [
  field,
  ['', undefined, 'x'.repeat(longest), '🙂'.repeat(longest)],
  ['x'.repeat(longest + 1), '🙂'.repeat(longest + 1), 5, null],
];

/** Declares a test for each row: what is taken gets through, what is refused names the field and sends nothing. */
export function testLimits(name: ProxyName, limits: Limit[]): void {
  test.each(limits)('keeps the limits of %s', async (field, taken, refused) => {
    for (const value of taken) {
      const { status, text } = await invoke(proxies[name], name, { body: bodyWith(name, field, value) });
      expect([shown(value), status, status === 200 ? '' : text]).toEqual([shown(value), 200, '']);
    }
    expect(simulation.received).toHaveLength(taken.length);

    simulation.reset();
    for (const value of refused) {
      const { status, body } = await invoke(proxies[name], name, { body: bodyWith(name, field, value) });
      const paths = body.details?.map(({ path }: { path: string }) => path);
      expect([shown(value), status, body.error, paths]).toEqual([
        shown(value),
        400,
        'invalid_request',
        [`body.${field}`],
      ]);
    }
    expect(simulation.received).toEqual([]);
  });
}

function bodyWith(name: ProxyName, field: string, value: unknown): Record<string, unknown> {
  const body = sampleBody(name);
  const steps = field.split('.');
  const last = steps.pop() ?? '';
  let target = body;
  for (const step of steps) {
    target[step] ??= /^\d+$/.test(steps[steps.indexOf(step) + 1] ?? last) ? [] : {};
    target = target[step] as Record<string, unknown>;
  }
  target[last] = value;
  return body;
}

function shown(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 80);
}
