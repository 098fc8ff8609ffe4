import * as z from 'zod/mini';
import { bodySchema, type Contract } from '../../lib/contract.ts';
import * as config from '../../lib/config.ts';
import { unsetAsAbsent } from '../../lib/schemas/paid-fields.ts';
import { ErrorBody } from '../../lib/schemas/error-body.ts';
import * as indexFiles from '@node-registry/registry-rules/schemas/index-files';
import { HostNode, HostNodeInput } from '@node-registry/registry-rules/schemas/host-node';
import { Node, NodeInput } from '@node-registry/registry-rules/schemas/node';
import { NodeVersion, NodeVersionInput } from '@node-registry/registry-rules/schemas/node-version';
import { advancedSettings } from './advanced-settings.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';

/** Each resource in responses and in requests; a field that only responses have is read-only. */
const resources = [
  [Node, NodeInput],
  [NodeVersion, NodeVersionInput],
  [HostNode, HostNodeInput],
] as const;

const pathOfComponents = '#/components/schemas/';

/** The schemas of all bodies and replies, by the name that `requestName` and `replyName` give them. */
export function describeSchemas(contracts: readonly Contract[]): Record<string, JsonObject> {
  const rules = config.videoRules;
  const requests = contracts.flatMap((contract) =>
    contract.body ? [[requestName(contract), bodySchema(contract, rules)] as const] : [],
  );
  const replies = contracts.flatMap((contract) =>
    contract.reply ? [[replyName(contract), contract.reply] as const] : [],
  );
  const described = {
    ...describe(Object.fromEntries(requests), 'input'),
    ...describe({ ...Object.fromEntries(replies), ErrorBody, ...indexFiles }, 'output'),
  };
  for (const [resource, input] of resources) completeRequests(described, resource, input);
  for (const contract of contracts) if (contract.body) describeEchoes(described, contract);
  Object.assign(described, { AdvancedSettings: advancedSettings });
  propertiesOf(described.RelightImageRequest).advanced_settings = reference('AdvancedSettings');
  return Object.fromEntries(Object.entries(described).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function requestName({ name }: Contract): string {
  return `${capitalized(name)}Request`;
}

export function replyName({ name, reply }: Contract): string {
  return (reply && z.globalRegistry.get(reply)?.id) ?? `${capitalized(name)}Reply`;
}

export function reference(name: string): JsonObject {
  return { $ref: `${pathOfComponents}${name}` };
}

/** The schemas and descriptions of parameters, which OpenAPI keeps apart. */
export function describeParameters(parameters: z.ZodMiniType): Record<string, JsonObject> {
  const { properties } = tidy(z.toJSONSchema(parameters, { io: 'input' })) as { properties: object };
  return { ...properties };
}

/** Wraps all schemas in one object, so that zod refers to those that have a name of their own. */
function describe(
  schemas: Record<string, z.ZodMiniType>,
  io: 'input' | 'output',
): Record<string, JsonObject> {
  const { properties, $defs } = z.toJSONSchema(z.object(schemas), { io, override: describeOurs });
  const unnamed = Object.entries(properties ?? {}).filter(([, schema]) => !isReference(schema));
  const text = JSON.stringify({ ...Object.fromEntries(unnamed), ...$defs });
  return tidy(JSON.parse(text.replaceAll('#/$defs/', pathOfComponents))) as Record<string, JsonObject>;
}

/**
 * Clients send back whole resources, so a request accepts any value for the fields that only the service
 * sets, and ignores them. A request carries a resource if it has all the writable fields. They are in the
 * order of the resource, which is the interface's.
 */
function completeRequests(
  described: Record<string, JsonObject>,
  resource: z.ZodMiniObject,
  input: z.ZodMiniObject,
): void {
  const answered = propertiesOf(described[String(z.globalRegistry.get(resource)?.id)]);
  const taken = Object.keys(input.shape);
  for (const schema of objectsIn(described)) {
    const properties = propertiesOf(schema);
    if (properties === answered || !taken.every((field) => field in properties)) continue;
    const isResponseOnly = (field: string) => answered[field]?.readOnly === true;
    const fields = Object.keys(answered).filter((field) => !isResponseOnly(field));
    schema.properties = Object.fromEntries(
      fields.map((field) => [field, properties[field] ?? ignored(answered[field])]),
    );
  }
}

function ignored({ description = 'a field of the response' }: JsonObject = {}): JsonObject {
  return { description: `Accepted and ignored, whatever it is: ${description}` };
}

/** Fields of registry responses that no request has. */
const ofRegistry: Record<string, string> = {
  publisher: 'The publisher of the node',
  latest_version: 'The version that an installation gets when it names none',
  node_version: 'The version',
};

/** Most fields of a video response repeat one of the request. */
function describeEchoes(described: Record<string, JsonObject>, contract: Contract): void {
  const sent = propertiesOf(described[requestName(contract)]);
  const echoes = propertiesOf(described[replyName(contract)]);
  for (const [field, schema] of Object.entries(echoes)) {
    if (isReference(schema) && !(field in ofRegistry)) continue;
    schema.description ??= ofRegistry[field] ?? `As requested: ${sent[field]?.description ?? field}`;
    const inner = propertiesOf(schema.items as JsonObject | undefined);
    const sentInner = propertiesOf(sent[field]?.items as JsonObject | undefined);
    for (const [name, each] of Object.entries(inner))
      each.description ??= `As requested: ${sentInner[name]?.description ?? name}`;
  }
}

function propertiesOf(schema: JsonObject | undefined): Record<string, JsonObject> {
  return (schema?.properties ?? {}) as Record<string, JsonObject>;
}

function objectsIn(value: unknown): JsonObject[] {
  if (!isObject(value)) return [];
  return [...(value.type === 'object' ? [value] : []), ...Object.values(value).flatMap(objectsIn)];
}

/**
 * Drops details from zod that no reader of the document needs: the bounds of number types, the pattern behind
 * a format, and the rule that a response has no other fields, which would forbid us to add one.
 */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  if (!isObject(value)) return value;
  const { propertyNames: _, ...schema } = value;
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.format === 'date-time') delete schema.pattern;
  // Means absent, like null, and would be a member without a name in a generated enum.
  if (Array.isArray(schema.enum)) schema.enum = schema.enum.filter((each) => each !== '');
  tidyInteger(schema);
  return nullableInPlace(
    Object.fromEntries(Object.entries(schema).map(([key, inner]) => [key, tidy(inner)])),
  );
}

/** Adds facts that zod can't express: int32, and that null, "" and [] equal an absent field. */
function describeOurs({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodType;
  jsonSchema: JsonObject;
}): void {
  if (zodSchema instanceof z.core.$ZodNumberFormat && zodSchema._zod.def.format === 'int32')
    jsonSchema.format = 'int32';
  if (zodSchema instanceof z.core.$ZodPipe && zodSchema._zod.def.in === unsetAsAbsent) {
    if (typeof jsonSchema.type === 'string') jsonSchema.type = [jsonSchema.type, 'null'];
    if (Array.isArray(jsonSchema.enum)) jsonSchema.enum = [...jsonSchema.enum, null];
    delete jsonSchema.minLength;
    delete jsonSchema.minItems;
  }
}

const int32 = 2 ** 31;

function tidyInteger(schema: JsonObject): void {
  if (![schema.type].flat().includes('integer')) return;
  if (schema.minimum === -int32 || schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === int32 - 1 || schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

/** `anyOf: [text, null]` reads better as one type, and client generators handle it better. */
function nullableInPlace(schema: JsonObject): JsonObject {
  const [first, second, third] = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  if (!isObject(first) || typeof first.type !== 'string' || second?.type !== 'null' || third) return schema;
  const { anyOf: _, ...rest } = schema;
  const values = Array.isArray(first.enum) && { enum: [...first.enum, null] };
  return { ...first, ...rest, type: [first.type, 'null'], ...values };
}

function isReference(schema: unknown): boolean {
  return isObject(schema) && '$ref' in schema;
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
