import { isObject, type JsonObject } from '../../lib/json.ts';

type Direction = 'request' | 'answer';

/** A limit is narrowed when it moves this way, and when it is new. */
const limits = {
  maxLength: -1,
  maxItems: -1,
  maximum: -1,
  minLength: 1,
  minItems: 1,
  minimum: 1,
} as const;

/** The changes that would break a caller who follows the earlier document, one sentence each. */
export function findBreakingChanges(before: JsonObject, after: JsonObject): string[] {
  const changes = Object.entries(operationsOf(before)).flatMap(([name, operation]) => {
    const counterpart = operationsOf(after)[name];
    if (!counterpart) return [`${name} is gone`];
    return compareOperations(name, new Side(before, operation), new Side(after, counterpart));
  });
  return [...new Set(changes)];
}

/** Semantic versioning lets a new major version break its callers. */
export function mayBreak(before: JsonObject, after: JsonObject): boolean {
  return majorOf(after) > majorOf(before);
}

/** One of the two documents and the part of it that is compared, with references followed. */
class Side {
  readonly document: JsonObject;
  readonly value: unknown;

  constructor(document: JsonObject, value: unknown) {
    this.document = document;
    this.value = merged(document, follow(document, value));
  }

  at(...path: string[]): Side {
    return path.reduce<Side>((side, key) => new Side(side.document, side.object[key]), this);
  }

  get object(): JsonObject {
    return isObject(this.value) ? this.value : {};
  }

  /** A list, or the entries of an object, by a name that both documents share. */
  entries(key: string): [string, Side][] {
    const side = this.at(key);
    if (!Array.isArray(side.value)) return Object.keys(side.object).map((name) => [name, side.at(name)]);
    return side.value.map((item, index) => {
      const inner = new Side(this.document, item);
      return [String(inner.object.name ?? index), inner];
    });
  }

  list(key: string): unknown[] | undefined {
    const { [key]: value } = this.object;
    return value === undefined || Array.isArray(value) ? value : [value];
  }
}

function compareOperations(name: string, before: Side, after: Side): string[] {
  const parameters = comparePairs(before.entries('parameters'), after.entries('parameters'), {
    gone: (parameter) => `${name} no longer reads ${parameter}`,
    both: (parameter, a, b) =>
      compareSchemas(`${name} ${parameter}`, a.at('schema'), b.at('schema'), 'request'),
    added: (parameter, b) => (b.object.required ? [`${name} now requires ${parameter}`] : []),
  });
  const bodies = compareContents(
    `${name} body`,
    before.at('requestBody'),
    after.at('requestBody'),
    'request',
  );
  const answers = comparePairs(before.entries('responses'), after.entries('responses'), {
    gone: (status) => `${name} no longer answers ${status}`,
    both: (status, a, b) => [
      ...compareContents(`${name} ${status}`, a, b, 'answer'),
      ...comparePairs(a.entries('headers'), b.entries('headers'), {
        gone: (header) => `${name} ${status} no longer has ${header}`,
      }),
    ],
  });
  const isClosed = before.list('security')?.length === 0 && after.list('security')?.length !== 0;
  return [...parameters, ...bodies, ...answers, ...(isClosed ? [`${name} now requires a token`] : [])];
}

function compareContents(where: string, before: Side, after: Side, direction: Direction): string[] {
  return comparePairs(before.entries('content'), after.entries('content'), {
    gone: (type) => `${where} is no longer ${type}`,
    both: (_, a, b) => compareSchemas(where, a.at('schema'), b.at('schema'), direction),
  });
}

function compareSchemas(where: string, before: Side, after: Side, direction: Direction): string[] {
  if (direction === 'request' && takesEverything(after)) return [];
  if (direction === 'request' && takesEverything(before)) return [`${where} no longer takes every value`];
  const below = ['anyOf', 'oneOf'].flatMap((combination) =>
    comparePairs(before.entries(combination), after.entries(combination), {
      gone: (index) => `${where} no longer has its form ${index}`,
      both: (_, a, b) => compareSchemas(where, a, b, direction),
    }),
  );
  const fields = comparePairs(before.entries('properties'), after.entries('properties'), {
    gone: (field) => `${where}.${field} is gone`,
    both: (field, a, b) => compareSchemas(`${where}.${field}`, a, b, direction),
  });
  const items = before.object.items
    ? compareSchemas(`${where}[]`, before.at('items'), after.at('items'), direction)
    : [];
  const own = direction === 'request' ? narrowed(where, before, after) : widened(where, before, after);
  return [...own, ...removedValues(where, before, after), ...below, ...fields, ...items];
}

/** A request must still accept everything that it accepted before. */
function narrowed(where: string, before: Side, after: Side): string[] {
  const required = without(after.list('required'), before.list('required'));
  const types = isAnything(after) ? [] : without(typesOf(before), typesOf(after));
  const tightened = Object.entries(limits).filter(([limit, sign]) => {
    const [a, b] = [before.object[limit], after.object[limit]];
    return b !== undefined && (a === undefined || (Number(b) - Number(a)) * sign > 0);
  });
  const changed = ['pattern', 'format', 'default'].filter(
    (key) =>
      before.object[key] !== after.object[key] && (after.object[key] !== undefined || key === 'default'),
  );
  return [
    ...required.map((field) => `${where}.${field} is now required`),
    ...types.map((type) => `${where} no longer takes ${type}`),
    ...tightened.map(([limit]) => `${where} has a narrower ${limit}`),
    ...changed.map((key) => `${where} has another ${key}`),
  ];
}

/** An answer must keep all its fields, and hold no value that its readers do not expect. */
function widened(where: string, before: Side, after: Side): string[] {
  const optional = without(before.list('required'), after.list('required'));
  const types = isAnything(before) ? [] : without(typesOf(after), typesOf(before));
  return [
    ...optional.map((field) => `${where}.${field} may now be absent`),
    ...types.map((type) => `${where} may now be ${type}`),
  ];
}

function takesEverything({ object }: Side): boolean {
  return !['type', 'anyOf', 'oneOf', 'enum', 'properties'].some((key) => key in object);
}

function isAnything(side: Side): boolean {
  return typesOf(side).length === 0;
}

/** Its own types and those of its forms. Every integer is a number. */
function typesOf(side: Side): unknown[] {
  const forms = side.entries('anyOf').flatMap(([, form]) => typesOf(form));
  const types = [...(side.list('type') ?? []), ...forms];
  return types.includes('number') ? [...types, 'integer'] : types;
}

function removedValues(where: string, before: Side, after: Side): string[] {
  const kept = after.list('enum');
  if (!kept) return [];
  if (!before.list('enum')) return [`${where} is now one of a list`];
  const removed = without(before.list('enum'), kept);
  return removed.length === 0 ? [] : [`${where} no longer knows ${removed.join(', ')}`];
}

interface Verdicts {
  gone: (name: string) => string;
  both?: (name: string, before: Side, after: Side) => string[];
  added?: (name: string, after: Side) => string[];
}

function comparePairs(before: [string, Side][], after: [string, Side][], verdicts: Verdicts): string[] {
  const [old, current] = [new Map(before), new Map(after)];
  const known = before.flatMap(([name, side]) => {
    const counterpart = current.get(name);
    return counterpart ? (verdicts.both?.(name, side, counterpart) ?? []) : [verdicts.gone(name)];
  });
  const added = after.flatMap(([name, side]) => (old.has(name) ? [] : (verdicts.added?.(name, side) ?? [])));
  return [...known, ...added];
}

function operationsOf({ paths }: JsonObject): JsonObject {
  const operations = Object.entries(paths as Record<string, JsonObject>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation]),
  );
  return Object.fromEntries(operations);
}

function follow(document: JsonObject, value: unknown): unknown {
  if (!isObject(value) || typeof value.$ref !== 'string') return value;
  const { $ref, ...rest } = value;
  const path = value.$ref.split('/').slice(1);
  const found = path.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), document);
  return Object.keys(rest).length === 0 ? found : { allOf: [found], ...rest };
}

/** A schema of several that all hold, as one: a field of two of them has what either says. */
function merged(document: JsonObject, value: unknown): unknown {
  if (!isObject(value) || !Array.isArray(value.allOf)) return value;
  const { allOf, ...rest } = value;
  const parts = [...allOf.map((part) => merged(document, follow(document, part))), rest].filter(isObject);
  const properties: Record<string, JsonObject> = {};
  for (const part of parts)
    for (const [name, schema] of Object.entries(part.properties ?? {}))
      properties[name] = { ...properties[name], ...schema };
  const required = parts.flatMap((part) => (Array.isArray(part.required) ? part.required : []));
  return Object.assign({}, ...parts, { properties, required });
}

function without(list: unknown[] | undefined, excluded: unknown[] | undefined): unknown[] {
  return (list ?? []).filter((item) => !excluded?.includes(item));
}

function majorOf({ info }: JsonObject): number {
  return Number.parseInt(String((info as JsonObject).version), 10);
}
