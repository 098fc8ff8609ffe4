import { isObject, type JsonObject } from '../../lib/json.ts';

/** The parts that a document offers to callers or demands from them, each with the part that contains it. */
interface Contents {
  offered: Map<string, string>;
  demanded: Map<string, string>;
  /** Limits of request values. */
  bounds: Map<string, number>;
}

const upperBounds = ['maximum', 'maxLength', 'maxItems'];
const lowerBounds = ['minimum', 'minLength', 'minItems'];

const anything = 'may be anything';

/** The changes that would break a caller who follows the earlier document, one sentence each. */
export function findBreakingChanges(before: JsonObject, after: JsonObject): string[] {
  const [old, now] = [contentsOf(before), contentsOf(after)];
  // A part that is removed or added with its container isn't a separate change.
  const gone = [...old.offered].filter(
    ([name, whole]) =>
      !now.offered.has(name) &&
      (whole === '' || (now.offered.has(whole) && !now.offered.has(`${whole} ${anything}`))),
  );
  const added = [...now.demanded].filter(
    ([name, whole]) => !old.demanded.has(name) && old.offered.has(whole),
  );
  const narrower = [...now.bounds].filter(([name, bound]) => {
    const [where = '', key = ''] = name.split(/ (?=\w+$)/);
    const isUpper = upperBounds.includes(key);
    const earlier = old.bounds.get(name) ?? (isUpper ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
    return old.offered.has(where) && (isUpper ? bound < earlier : bound > earlier);
  });
  return [
    ...gone.map(([name]) => `${name} is gone`),
    ...added.map(([name]) => name),
    ...narrower.map(([name, bound]) => `${name} is narrower: ${bound}`),
  ];
}

/** Semantic versioning lets a new major version break its callers. */
export function mayBreak(before: JsonObject, after: JsonObject): boolean {
  const [old = 0, now = 0] = [before, after].map(({ info }) =>
    Number.parseInt(String(isObject(info) && info.version), 10),
  );
  return now > old;
}

function contentsOf(document: JsonObject): Contents {
  const contents: Contents = { offered: new Map(), demanded: new Map(), bounds: new Map() };
  const { offered, demanded } = contents;

  function readSchema(where: string, value: unknown, isRequest: boolean): void {
    const schema = follow(document, value);
    if (isRequest && !['type', 'enum', 'properties', 'anyOf', 'oneOf'].some((key) => key in schema))
      offered.set(`${where} ${anything}`, where);
    for (const key of isRequest ? [...upperBounds, ...lowerBounds] : [])
      if (typeof schema[key] === 'number') contents.bounds.set(`${where} ${key}`, schema[key]);
    const required = new Set(listOf(schema.required));
    for (const [field, inner] of entriesOf(schema.properties)) {
      const name = `${where}.${field}`;
      offered.set(name, where);
      if (required.has(field)) (isRequest ? demanded : offered).set(`${name} is required`, where);
      readSchema(name, inner, isRequest);
    }
    for (const each of listOf(schema.enum).filter((text) => text !== ''))
      offered.set(`${where} ${each}`, where);
    const types = listOf(schema.type).map((type) => (type === 'integer' ? 'number' : type));
    // A request must still accept each type; a response may not have another.
    for (const type of types) (isRequest ? offered : demanded).set(`${where} may be ${type}`, where);
    if (schema.items) {
      offered.set(`${where}[]`, where);
      readSchema(`${where}[]`, schema.items, isRequest);
    }
    for (const form of [...listOf(schema.anyOf), ...listOf(schema.oneOf)]) readSchema(where, form, isRequest);
  }

  function readBody(name: string, whole: string, value: unknown, isRequest: boolean): void {
    const { content, headers } = follow(document, value);
    offered.set(name, whole);
    for (const [header] of entriesOf(headers)) offered.set(`${name} ${header}`, name);
    for (const [, { schema }] of entriesOf(content)) readSchema(name, schema, isRequest);
  }

  for (const [path, methods] of entriesOf(document.paths))
    for (const [method, operation] of entriesOf(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      offered.set(name, '');
      if (listOf(operation.security).length > 0) demanded.set(`${name} requires a token`, name);
      for (const parameter of listOf(operation.parameters).map((it) => follow(document, it))) {
        offered.set(`${name} ${parameter.name}`, name);
        if (parameter.required) demanded.set(`${name} ${parameter.name} is required`, name);
        readSchema(`${name} ${parameter.name}`, parameter.schema, true);
      }
      if (operation.requestBody) readBody(`${name} body`, name, operation.requestBody, true);
      for (const [status, answer] of entriesOf(operation.responses))
        readBody(`${name} ${status}`, name, answer, false);
    }
  // For receivers and readers of the index, these are like responses.
  for (const [name, { post }] of entriesOf(document.webhooks)) {
    offered.set(`webhook ${name}`, '');
    for (const parameter of listOf(objectOf(post).parameters).map((it) => follow(document, it)))
      offered.set(`webhook ${name} ${parameter.name}`, `webhook ${name}`);
    readBody(`webhook ${name} body`, `webhook ${name}`, objectOf(post).requestBody, false);
  }
  for (const { path, schema } of listOf(document['x-public-index']).map(objectOf)) {
    offered.set(String(path), '');
    readSchema(String(path), schema, false);
  }
  return contents;
}

/** A part with its reference resolved; fields next to a reference extend those of the same name. */
function follow(document: JsonObject, value: unknown): JsonObject {
  if (!isObject(value)) return {};
  const { $ref, properties, ...rest } = value;
  if (typeof $ref !== 'string') return value;
  const path = $ref.split('/').slice(1);
  const found = follow(
    document,
    path.reduce<unknown>((part, key) => (isObject(part) ? part[key] : undefined), document),
  );
  return { ...found, ...rest, properties: { ...objectOf(found.properties), ...objectOf(properties) } };
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function entriesOf(value: unknown): [string, JsonObject][] {
  return Object.entries(objectOf(value)).map(([name, inner]) => [name, objectOf(inner)]);
}

function listOf(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
