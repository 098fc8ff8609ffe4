import { expect, test } from '@jest/globals';
import { invoke, sampleBody } from './invoke.ts';
import { type ProxyName, proxies, simulation } from './proxies.ts';

/** What the interface says about one field of a request. Dots in the name lead into objects and lists. */
export interface FieldRule {
  field: string;
  /** Values that reach the provider as they are. */
  accepted: readonly unknown[];
  /** Values and what they become. */
  changed?: readonly (readonly [sent: unknown, forwarded: unknown])[];
  /** Values and the messages that the caller gets for them. */
  rejected: readonly (readonly [value: unknown, message: string])[];
  /** An optional field may also be null, "" or [], which the provider gets as this; usually it gets nothing. */
  standard?: unknown;
  isRequired?: boolean;
}

const address = 'https://example.com/a.png';
const notAnImage = 'must be an http or https URL, a data URI or base64 data of an image';
const notAnAddress = 'must be an absolute http or https URL';
const mustBe = { text: 'must be text', flag: 'must be true or false', whole: 'must be a whole number' };

export const images = [address, 'http://localhost/a', 'data:image/jpeg;base64,/9j/4A==', 'iVBOR/w0K+Ggo='];

const otherThanImages: FieldRule['rejected'] = [
  ...['ftp://example.com/a.png', 'file:///etc/passwd', 'http://', 'a.b', 'https://example.com/\na'],
  ...['http:x', 'https:///x', 'https://example.com/a b'],
  ...[
    'data:text/html,x',
    'data:text/plain;base64,aGk=',
    'data:image/png;base64,',
    'data:image/png;base64, =',
  ],
  ...[' ', '\n\t ', '0', 'A===', '====', 'Ł'.repeat(100)],
].map((value) => [value, notAnImage] as const);

export function requiredImage(field: string): FieldRule {
  return {
    ...optionalImage(field),
    isRequired: true,
    rejected: [...otherThanImages, ['', notAnImage], [null, mustBe.text], [5, mustBe.text]],
  };
}

export function optionalImage(field: string): FieldRule {
  return {
    field,
    accepted: images,
    changed: [
      [` ${address}\n`, address],
      [' aGk=\n', 'aGk='],
    ],
    rejected: [...otherThanImages, [5, mustBe.text]],
  };
}

export function webAddress(field: string): FieldRule {
  const others = ['example.com', '/path', '//example.com', 'ftp://example.com', 'javascript:alert(1)', ' '];
  return {
    field,
    accepted: [address, 'http://localhost:1/x?y=z#a'],
    changed: [[`\t ${address} \r\n`, address]],
    rejected: [
      ...others.map((value) => [value, notAnAddress] as const),
      ['https://example.com/\na', notAnAddress],
      ['http:x', notAnAddress],
      ['https:///x', notAnAddress],
      ['https://example.com/a b', notAnAddress],
      ['https://example.com/"x', notAnAddress],
      ['\0https://example.com', notAnAddress],
      [5, mustBe.text],
    ],
  };
}

export function flag(field: string, standard?: boolean): FieldRule {
  return {
    field,
    accepted: [true, false],
    rejected: [
      ['true', mustBe.flag],
      [1, mustBe.flag],
      [[false], mustBe.flag],
    ],
    standard,
  };
}

export function choice(field: string, values: readonly string[], standard?: string): FieldRule {
  const message = `must be one of ${values.join(', ')}`;
  const others = [`${values[0]} `, values[0]?.toUpperCase(), 'other', 'constructor', 1];
  return { field, accepted: values, rejected: others.map((value) => [value, message] as const), standard };
}

export function requiredChoice(
  field: string,
  values: readonly string[],
  others: readonly string[],
): FieldRule {
  const message = `must be one of ${values.join(', ')}`;
  const rejected = [...others, '', 1, null].map((value) => [value, message] as const);
  return { field, accepted: values, rejected: [...rejected, [undefined, 'is required']], isRequired: true };
}

export function wholeNumber(field: string, min: number, max: number, standard?: number): FieldRule {
  return {
    field,
    accepted: [min, max],
    rejected: [
      [min - 1, `must be at least ${min}`],
      [max + 1, `must be at most ${max}`],
      [min + 0.5, mustBe.whole],
      [String(min), 'must be a number'],
      [true, 'must be a number'],
    ],
    standard,
  };
}

/** An emoji counts as one character, although it is two code units. */
export function text(field: string, maxCharacters: number): FieldRule {
  const message = `must have at most ${maxCharacters} characters`;
  return {
    field,
    accepted: ['x'.repeat(maxCharacters), '🙂'.repeat(maxCharacters)],
    rejected: [
      ['x'.repeat(maxCharacters + 1), message],
      ['🙂'.repeat(maxCharacters + 1), message],
      [5, mustBe.text],
    ],
  };
}

/** Declares a test for each field: accepted values reach the provider, and others get a message and are not sent. */
export function testFields(name: ProxyName, rules: readonly FieldRule[]): void {
  const send = (rule: FieldRule, value: unknown) =>
    invoke(proxies[name], name, { body: bodyWith(name, rule.field, value) });

  test.each(rules.map((rule) => [rule.field, rule] as const))(
    'accepts valid values and rejects invalid ones in %s',
    async (_, rule) => {
      const unset = rule.isRequired
        ? []
        : [undefined, null, '', []].map((value) => [value, rule.standard] as const);
      const accepted = rule.accepted.map((value) => [value, value] as const);
      for (const [sent, forwarded] of [...accepted, ...(rule.changed ?? []), ...unset]) {
        simulation.reset();
        const { status, text } = await send(rule, sent);
        expect([shown(sent), status, status === 200 ? '' : text]).toEqual([shown(sent), 200, '']);
        const received = valueAt(simulation.received[0]?.body, rule.field);
        // Comparing megabytes with toEqual would print them.
        if (JSON.stringify(received) !== JSON.stringify(forwarded))
          throw new Error(`${rule.field}: ${shown(sent)} reached the provider as ${shown(received)}`);
      }

      simulation.reset();
      for (const [value, message] of rule.rejected) {
        const { status, body } = await send(rule, value);
        expect([shown(value), status, body.error, body.details]).toEqual([
          shown(value),
          400,
          'invalid_request',
          [{ path: `body.${rule.field}`, message }],
        ]);
      }
      expect(simulation.received).toEqual([]);
    },
  );
}

function bodyWith(name: ProxyName, field: string, value: unknown): Record<string, unknown> {
  const body = sampleBody(name);
  const steps = field.split('.');
  const last = steps.pop() ?? '';
  let target = body;
  for (const [index, step] of steps.entries()) {
    target[step] ??= /^\d+$/.test(steps[index + 1] ?? last) ? [] : {};
    target = target[step] as Record<string, unknown>;
  }
  target[last] = value;
  return body;
}

function valueAt(body: unknown, field: string): unknown {
  return field
    .split('.')
    .reduce((value, step) => (value as Record<string, unknown> | undefined)?.[step], body);
}

function shown(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 80);
}
