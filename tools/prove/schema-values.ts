import type { SeededRandom } from './seeded-random.ts';
import { randomText, randomValue } from './values.ts';

export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  allOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  additionalProperties?: JsonSchema | boolean;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxLength?: number;
  format?: string;
}

/** Makes values that a schema of the document describes, one in so many of them, at any depth, not quite so. */
export class SchemaValues {
  readonly #schemas: Record<string, JsonSchema>;
  readonly #random: SeededRandom;
  readonly #oddOnceIn: number;

  constructor(schemas: Record<string, JsonSchema>, random: SeededRandom, oddOnceIn: number) {
    this.#schemas = schemas;
    this.#random = random;
    this.#oddOnceIn = oddOnceIn;
  }

  make(schema: JsonSchema, name = 'value'): unknown {
    const random = this.#random;
    if (random.isOnceIn(this.#oddOnceIn)) return randomValue(random, name);
    if (schema.$ref) return this.make(this.#schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, name);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return random.pick(schema.enum);
    const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
    if (choices) return this.make(random.pick(choices), name);
    const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
    switch (type) {
      case 'object':
        return this.#object(schema);
      case 'array':
        return this.#list(schema, name);
      case 'integer':
      case 'number':
        return this.#number(schema, type);
      case 'boolean':
        return random.isOnceIn(2);
      case 'null':
        return null;
      default:
        return this.#text(schema, name);
    }
  }

  #object({ properties = {}, required = [], additionalProperties }: JsonSchema): Record<string, unknown> {
    const random = this.#random;
    const isSent = (name: string) => (required.includes(name) ? !random.isOnceIn(40) : random.isOnceIn(3));
    const entries = Object.entries(properties)
      .filter(([name]) => isSent(name))
      .map(([name, schema]) => [name, this.make(schema, name)]);
    const isOpen = typeof additionalProperties === 'object';
    if (isOpen) entries.push(['de', this.make(additionalProperties, 'de')]);
    if (random.isOnceIn(20)) entries.push([randomText(random, 10), randomValue(random)]);
    return Object.fromEntries(entries);
  }

  #list({ items = {}, minItems = 0, maxItems = 4 }: JsonSchema, name: string): unknown[] {
    const random = this.#random;
    const most = Math.min(maxItems, minItems + 4);
    const length = random.isOnceIn(30) ? maxItems + 1 : minItems + random.below(most - minItems + 1);
    return Array.from({ length }, () => this.make(items, name));
  }

  #number({ minimum = -1000, maximum = 1000 }: JsonSchema, type: string): number {
    const random = this.#random;
    if (random.isOnceIn(10)) return random.pick([minimum - 1, maximum + 1, minimum, maximum]);
    const whole = minimum + random.below(Math.max(1, Math.min(maximum - minimum + 1, 1_000_000)));
    return type === 'number' && random.isOnceIn(4) ? whole + 0.5 : whole;
  }

  #text({ format, maxLength }: JsonSchema, name: string): string {
    const random = this.#random;
    if (format === 'uri') return random.pick(['https://example.com/a.png', 'http://localhost:1/?x=y#z', '']);
    if (format === 'date-time') return '2026-11-20T12:00:00.000Z';
    if (name === 'version')
      return random.pick(['1.0.0', '1.1', 'v2', '3.0.0-rc.1', '0.0.1+b', 'nightly', '1'.repeat(70)]);
    if (/image|lightmap/.test(name))
      return random.pick(['iVBOR/w0K+Ggo=', 'https://example.com/a.png', 'data:image/png;base64,AA==']);
    if (maxLength !== undefined && random.isOnceIn(10)) return '🙂'.repeat(maxLength + random.below(2));
    return randomText(random, 40);
  }
}
