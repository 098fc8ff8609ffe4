import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Result, sampleEvent } from './invoke.ts';
import { endpointNames } from './operation-names.ts';

type Json = Record<string, unknown>;

export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxLength?: number;
}

interface Operation {
  body: JsonSchema;
  request: ValidateFunction;
  replies: ReadonlyMap<number, ValidateFunction>;
}

/** Checks requests and responses against docs/openapi.json: the document decides, not the code. */
export interface ApiDocument {
  schemas: Record<string, JsonSchema>;
  /** The schema of an operation's request body. */
  bodyOf: (name: string) => JsonSchema;
  /** Throws if an answer differs from the document. */
  verify: (name: string, answer: Result) => void;
  /** Whether the document accepts a request body. */
  takes: (name: string, body: unknown) => boolean;
}

export async function readApiDocument(): Promise<ApiDocument> {
  const document: Json = JSON.parse(await readFile('docs/openapi.json', 'utf8'));
  // JSON has no largest number, so 1e400 is one.
  const ajv = new Ajv2020({ strict: false, strictNumbers: false, allErrors: false, validateFormats: false });
  const root = closed(document) as Json;
  const operations = new Map<string, Operation>();
  for (const name of endpointNames) {
    const [method = '', path = ''] = sampleEvent(name).routeKey.split(' ');
    // A greedy parameter is the gateway's syntax; in the document it is an ordinary one.
    const place = ['paths', path.replace('+}', '}'), method.toLowerCase()];
    const body = schemaIn(at(document, ...place, 'requestBody'));
    // `default` is for the gateway's own responses, which no function gives.
    const { default: _, ...responses } = at(root, ...place, 'responses') as Json;
    const replies = Object.entries(responses).map(([status, reply]) => {
      const schema = { ...schemaIn(resolved(root, reply)), components: root.components };
      return [Number(status), ajv.compile(schema)] as const;
    });
    const request = ajv.compile({ ...body, components: document.components });
    operations.set(name, { body, request, replies: new Map(replies) });
  }
  const schemas = at(document, 'components', 'schemas') as ApiDocument['schemas'];
  const operation = (name: string) => operations.get(name) as Operation;
  return {
    schemas,
    bodyOf: (name) => operation(name).body,
    verify: (name, { status, headers, body, text }) => {
      const validate = operation(name).replies.get(status);
      assert.ok(validate, `the document has no ${status}: ${text}`);
      assert.ok(validate(body), `unlike the document, ${ajv.errorsText(validate.errors)}: ${text}`);
      assert.equal(headers['content-type'], 'application/json');
      assert.match(String(headers['x-request-id']), /^[\w.-]{1,128}$/, 'there is no x-request-id');
    },
    takes: (name, body) => [body, withoutEmpty(body)].some((sent) => operation(name).request(sent) === true),
  };
}

/** Responses of errors are shared between operations. */
function resolved(root: Json, part: unknown): unknown {
  const { $ref } = part as { $ref?: string };
  return $ref === undefined ? part : at(root, ...$ref.split('/').slice(1));
}

function schemaIn(part: unknown): JsonSchema {
  return at(part, 'content', 'application/json', 'schema') as JsonSchema;
}

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce((part, key) => (part as Json)[key], value);
}

/** An answer may have only the fields of the document, so its objects allow no others. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, closed(inner)]);
  const schema: Json = Object.fromEntries(entries);
  if (schema.type === 'object' && typeof schema.properties === 'object')
    schema.additionalProperties ??= false;
  return schema;
}

/** Clients send these for absent values, and every optional field accepts them. No field is nested deeper than this. */
const isEmpty = (value: unknown) =>
  value === '' || value === null || (Array.isArray(value) && value.length === 0);

function withoutEmpty(body: unknown, depth = 3): unknown {
  if (typeof body !== 'object' || body === null || depth === 0) return body;
  if (Array.isArray(body)) return body.map((item) => withoutEmpty(item, depth - 1));
  const entries = Object.entries(body).filter(([, value]) => !isEmpty(value));
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutEmpty(value, depth - 1)]));
}
