import type { AttributeValue } from '@aws-sdk/client-dynamodb';

export type Item = Record<string, unknown>;
export type AttributeMap = Record<string, AttributeValue>;

/** Plain values to DynamoDB's typed ones. Fields that are undefined are left out. */
export function toAttributes(item: Item): AttributeMap {
  const present = Object.entries(item).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [name, toAttribute(value)]));
}

export function toAttribute(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (value instanceof Uint8Array) return { B: value };
  if (Array.isArray(value)) return { L: value.map(toAttribute) };
  if (typeof value === 'object' && value !== null) return { M: toAttributes(value as Item) };
  throw new Error(`A value of type ${typeof value} cannot be stored.`);
}

export function fromAttributes(attributes: AttributeMap): Item {
  const item: Item = {};
  for (const name in attributes) item[name] = fromAttribute(attributes[name] as AttributeValue);
  return item;
}

/**
 * The attributes that a schema names, in its order: bookkeeping never reaches a caller, whatever is added to it,
 * and answers read alike each time, though DynamoDB keeps no order.
 */
export function visibleFields(item: Item, { shape }: { shape: object }): Item {
  const visible: Item = {};
  for (const field in shape) if (Object.hasOwn(item, field)) visible[field] = item[field];
  return visible;
}

function fromAttribute(value: AttributeValue): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.L !== undefined) return value.L.map(fromAttribute);
  if (value.M !== undefined) return fromAttributes(value.M);
  if (value.B !== undefined) return value.B;
  throw new Error('The store holds an attribute of a type that nothing here writes.');
}
