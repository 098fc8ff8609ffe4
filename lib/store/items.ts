import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Key } from './keys.ts';

/*
 * Not the SDK's marshaller: it loses a field named `__proto__` and rejects one named `constructor`, which user ids may
 * be, and takes twice to seven times as long.
 */

/** An untyped record of the store; lib/registry/records.ts defines the types. */
export type Item = Record<string, unknown>;
export type AttributeMap = Record<string, AttributeValue>;

/** Converts plain values to DynamoDB's typed ones, without undefined fields. */
export function toAttributes(item: object): AttributeMap {
  const present = Object.entries(item).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [name, toAttribute(value)]));
}

function toAttribute(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (value instanceof Uint8Array) return { B: value };
  if (Array.isArray(value)) return { L: value.map(toAttribute) };
  if (typeof value === 'object' && value !== null) return { M: toAttributes(value) };
  throw new Error(`A value of type ${typeof value} cannot be stored.`);
}

export function fromAttributes(attributes: AttributeMap): Item {
  // A loop: with entries, a cold bulk of 1,000 takes 3 % longer.
  const item: Item = {};
  for (const name in attributes) {
    const value = fromAttribute(attributes[name] as AttributeValue);
    if (name === '__proto__') Object.defineProperty(item, name, { value, enumerable: true });
    else item[name] = value;
  }
  return item;
}

function fromAttribute(value: AttributeValue): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.L !== undefined) return value.L.map(fromAttribute);
  if (value.M !== undefined) return fromAttributes(value.M);
  if (value.B !== undefined) return value.B;
  throw new Error('A stored attribute has an unknown type.');
}

type TypedRead<Record> = <Found extends Item | undefined>(
  item: Found,
) => Found extends Item ? Record : Record | undefined;

/** The only cast of a record: this code wrote that type under this kind of key. */
export function typedRead<Record>(): TypedRead<Record> {
  return ((item: unknown) => item) as TypedRead<Record>;
}

type Operator = '=' | '<>' | '<=';
/** Counters, for example, start absent. */
type Comparison = Operator | `absent or ${Operator}`;

type Name<Stored> = keyof Stored & string;

/** A clause of a condition on a kind of record: an attribute or a path into a map, a comparison, a value. */
export type Clause<Stored> =
  | { [Field in Name<Stored>]: readonly [Field, Comparison, Stored[Field]] }[Name<Stored>]
  | readonly [attribute: Name<Stored> | readonly [Name<Stored>, ...string[]], comparison: 'exists' | 'absent']
  | readonly [path: readonly [Name<Stored>, string, ...string[]], comparison: Comparison, value: unknown];

/** Clauses that must all hold. */
export type Condition<Stored> = readonly Clause<Stored>[];

/** Holds only if the item doesn't exist. */
export const absent: Condition<Key> = [['pk', 'absent']];

/** Holds only if the item exists. */
export const present: Condition<Key> = [['pk', 'exists']];

/** Holds whether the item exists or not. */
export const always: Condition<Key> = [];

/** Holds only if there was no write since the record, or none, was read: each write increases the revision. */
export function onRevision(record: { revision: number } | undefined): Condition<Key & { revision: number }> {
  return record ? [['revision', '=', record.revision]] : absent;
}

/** Undefined keeps a value, null clears it, and anything except Plus and IfAbsent replaces it. */
export type Changes<Stored> = {
  [Field in keyof Stored]?:
    | Stored[Field]
    | (NonNullable<Stored[Field]> extends number ? Plus : never)
    | IfAbsent<NonNullable<Stored[Field]>>
    | null
    | undefined;
};

/** The fields that changes name. */
export function namesIn(changes: object): string[] {
  return Object.entries(changes).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

/** A condition on a record of any kind. */
export type AnyCondition = readonly (readonly [
  attribute: string | readonly string[],
  comparison: string,
  value?: unknown,
])[];

/** A change that adds to the stored number, which counts as zero while it is absent. */
export class Plus {
  readonly amount: number;
  constructor(amount: number) {
    this.amount = amount;
  }
}

/** A change that is stored only if the attribute has no value. */
export class IfAbsent<Value> {
  readonly value: Value;
  constructor(value: Value) {
    this.value = value;
  }
}

/** Names or values by the placeholders #n1, #n2 … of an expression: many names are reserved words. None instead of an empty map. */
export function placed<Value>(prefix: '#n' | ':v', all: readonly Value[]): Record<string, Value> | undefined {
  if (all.length === 0) return undefined;
  return Object.fromEntries(all.map((each, index) => [`${prefix}${index + 1}`, each]));
}

/** The expressions of a write, or of a query, whose key condition has the form of a condition. */
export function expressionsOf(when: AnyCondition, changes: object = {}) {
  const names: string[] = [];
  const values: AttributeValue[] = [];
  const named = (name: string) => `#n${names.push(name)}`;
  const valued = (value: unknown) => `:v${values.push(toAttribute(value))}`;
  const conditions = when.map(([attribute, comparison, value]) => {
    const path = [attribute].flat().map(named).join('.');
    if (comparison === 'exists') return `attribute_exists(${path})`;
    if (comparison === 'absent') return `attribute_not_exists(${path})`;
    if (comparison === 'begins with') return `begins_with(${path}, ${valued(value)})`;
    const [operator, isOptional] = comparison.split(' ').reverse();
    const compared = `${path} ${operator} ${valued(value)}`;
    return isOptional ? `(attribute_not_exists(${path}) OR ${compared})` : compared;
  });
  const actions = Object.entries(changes).flatMap(([field, change]) => {
    if (change === undefined) return [];
    const name = named(field);
    if (change === null) return { verb: 'REMOVE', text: name };
    if (change instanceof Plus) return { verb: 'ADD', text: `${name} ${valued(change.amount)}` };
    const next =
      change instanceof IfAbsent ? `if_not_exists(${name}, ${valued(change.value)})` : valued(change);
    return { verb: 'SET', text: `${name} = ${next}` };
  });
  const clauses = Object.entries(Object.groupBy(actions, ({ verb }) => verb)).map(
    ([verb, parts = []]) => `${verb} ${parts.map(({ text }) => text).join(', ')}`,
  );
  return {
    ConditionExpression: conditions.join(' AND ') || undefined,
    UpdateExpression: clauses.join(' ') || undefined,
    ExpressionAttributeNames: placed('#n', names),
    ExpressionAttributeValues: placed(':v', values),
  };
}

/** The record after an update, by the same rule, except `revision`, which the store increases. */
export function withChanges<Record extends object>(record: Record, changes: object): Record {
  const next = new Map(Object.entries(record));
  for (const [field, value] of Object.entries(changes)) {
    if (value === null) next.delete(field);
    else if (value !== undefined) next.set(field, value);
  }
  return Object.fromEntries(next) as Record;
}
