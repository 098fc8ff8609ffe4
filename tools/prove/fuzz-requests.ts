import type { Arena, ArenaRequest } from './arena.ts';
import { damage } from './fuzz-texts.ts';
import { type JsonSchema, SchemaValues } from './schema-values.ts';
import type { SeededRandom } from './seeded-random.ts';
import { randomText, randomValue } from './values.ts';

export interface FuzzedRequest extends ArenaRequest {
  name: string;
  text: string;
}

/** Makes requests of which most are wrong in one way, some in several, and some in none. */
export class FuzzedRequests {
  readonly #arena: Arena;
  readonly #random: SeededRandom;
  readonly #bodies: ReadonlyMap<string, JsonSchema>;
  readonly #good: SchemaValues;
  readonly #odd: SchemaValues;

  /** `bodies` are the schemas of the request bodies, `schemas` those that they refer to. */
  constructor(
    arena: Arena,
    random: SeededRandom,
    bodies: ReadonlyMap<string, JsonSchema>,
    schemas: Record<string, JsonSchema>,
  ) {
    this.#arena = arena;
    this.#random = random;
    this.#bodies = bodies;
    this.#good = new SchemaValues(schemas, random, 1_000_000);
    this.#odd = new SchemaValues(schemas, random, 15);
  }

  next(): FuzzedRequest {
    const random = this.#random;
    const name = random.pick(this.#arena.names);
    const sample = String(this.#arena.sample(name).body);
    const text = this.#text(name, sample);
    const isBase64 = random.isOnceIn(20);
    return {
      name,
      text: isBase64 && !random.isOnceIn(3) ? Buffer.from(text).toString('base64') : text,
      isBase64Encoded: isBase64,
      headers: random.isOnceIn(100)
        ? undefined
        : { ...this.#authorization(), ...(random.isOnceIn(4) && this.#headers()) },
      ...(random.isOnceIn(4) && { path: this.#path(name) }),
    };
  }

  #text(name: string, sample: string): string {
    const random = this.#random;
    const kind = random.below(10);
    if (kind === 0) return sample;
    if (kind <= 3) return damage(sample, random);
    const schema = this.#bodies.get(name) ?? {};
    const body = (kind <= 5 ? this.#good : this.#odd).make(schema);
    const text = JSON.stringify(this.#withToken(name, sample, body)) ?? '';
    return kind === 9 ? damage(text, random) : text;
  }

  /** A made-up personal access token is refused before anything else is looked at. */
  #withToken(name: string, sample: string, body: unknown): unknown {
    if (name !== 'publish-node-version' || typeof body !== 'object' || this.#random.isOnceIn(10)) return body;
    return { ...body, personal_access_token: JSON.parse(sample).personal_access_token };
  }

  #authorization(): Record<string, unknown> {
    const random = this.#random;
    const { bearer } = this.#arena;
    if (random.isOnceIn(6)) return { authorization: bearer('root', { admin: true }) };
    if (!random.isOnceIn(8)) return {};
    const [head = '', claims = '', signature = ''] = bearer('demo-owner').slice(7).split('.');
    const made = Buffer.from(JSON.stringify(randomValue(random))).toString('base64url');
    const parts = random.pick([
      ...[
        [made, claims, signature],
        [head, made, signature],
        [head, claims, made],
        [made, made, made],
      ],
      ...[
        ['', '', ''],
        [head, claims],
        [head, claims, signature, signature],
      ],
    ]);
    const bearers = [`Bearer ${parts.join('.')}`, `bearer  ${parts.join('.')},${parts.join('.')}`];
    return {
      authorization: random.pick([...bearers, '', 'Bearer', 'Bearer ', undefined, randomText(random, 40)]),
    };
  }

  #headers(): Record<string, unknown> {
    const random = this.#random;
    const names = [
      'content-type',
      'idempotency-key',
      'if-match',
      'x-request-id',
      'host',
      'user-agent',
      '__proto__',
    ];
    const values = [
      ...[
        undefined,
        '',
        ' ',
        '\0',
        'a,b',
        'application/json',
        'application/json,application/json',
        '*',
        '"1"',
      ],
      ...['W/"1"', '"1", "2"', 'k'.repeat(255), 'k'.repeat(256), 'x'.repeat(9000), randomText(random, 20)],
    ];
    const count = 1 + random.below(3);
    return Object.fromEntries(Array.from({ length: count }, () => [random.pick(names), random.pick(values)]));
  }

  #path(name: string): Record<string, unknown> | undefined {
    const random = this.#random;
    const sample = this.#arena.sample(name).pathParameters;
    if (random.isOnceIn(10)) return undefined;
    const entries = Object.entries(sample ?? { extra: 'x' }).filter(() => !random.isOnceIn(10));
    const odd = () =>
      random.pick([
        ...[
          '',
          '.',
          '..',
          'DEMO-node',
          'demo_node',
          'demo.node',
          'constructor',
          '__proto__',
          'x'.repeat(2000),
        ],
        ...[
          '%2F',
          'a/b',
          '\0',
          '\ud800',
          '1.0.0',
          'v1',
          '1.0.0+x',
          '1'.repeat(64),
          `1.0.0-${'a.'.repeat(28)}a`,
        ],
        ...[randomText(random, 200), randomText(random, 260), randomText(random, 5)],
      ]);
    return Object.fromEntries(entries.map(([key, value]) => [key, random.isOnceIn(3) ? value : odd()]));
  }
}
