import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/* The SDK's marshaller is another package and takes twice the time for the few types stored here. */

/** A record as the store knows it; lib/registry/records.ts gives it its type. */
export type Item = Record<string, unknown>;
export type AttributeMap = Record<string, AttributeValue>;

/** Plain values to DynamoDB's typed ones. Fields that are undefined are left out. */
export function toAttributes(item: object): AttributeMap {
  const present = Object.entries(item).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [name, toAttribute(value)]));
}

export function toAttribute(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (value instanceof Uint8Array) return { B: value };
  if (Array.isArray(value)) return { L: value.map(toAttribute) };
  if (typeof value === 'object' && value !== null) return { M: toAttributes(value) };
  throw new Error(`A value of type ${typeof value} cannot be stored.`);
}

export function fromAttributes(attributes: AttributeMap): Item {
  const item: Item = {};
  for (const name in attributes) item[name] = fromAttribute(attributes[name] as AttributeValue);
  return item;
}

function fromAttribute(value: AttributeValue): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.L !== undefined) return value.L.map(fromAttribute);
  if (value.M !== undefined) return fromAttributes(value.M);
  if (value.B !== undefined) return fromBinary(value.B);
  throw new Error('The store holds an attribute of a type that nothing here writes.');
}

/** Bytes arrive as base64 if the SDK didn't decode the reply. */
function fromBinary(value: Uint8Array | string): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value, 'base64') : value;
}
