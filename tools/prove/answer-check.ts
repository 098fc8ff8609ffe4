import { readFile } from 'node:fs/promises';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { ArenaAnswer } from './arena.ts';

type Json = Record<string, unknown>;

interface Operation {
  request: ValidateFunction;
  replies: ReadonlyMap<number, ValidateFunction>;
}

/** Holds requests and answers to docs/openapi.json: the document, not the code, says what may be. */
export interface AnswerCheck {
  /** What is wrong with an answer; empty where nothing is. */
  faultsOf: (name: string, answer: ArenaAnswer) => string[];
  /** Whether the document takes a request body. */
  takes: (name: string, body: unknown) => boolean;
}

/** The operations by the names of their functions. */
export async function readAnswerCheck(routes: ReadonlyMap<string, string>): Promise<AnswerCheck> {
  const document: Json = JSON.parse(await readFile('docs/openapi.json', 'utf8'));
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false });
  const root = closed(document) as Json;
  const compile = (schema: unknown) => ajv.compile({ ...(schema as Json), components: root.components });
  const operations = new Map<string, Operation>();
  for (const [name, route] of routes) {
    const [method = '', path = ''] = route.split(' ');
    const { requestBody, responses } = at(root, 'paths', path, method.toLowerCase()) as Json;
    const schemaIn = (part: unknown) => at(part, 'content', 'application/json', 'schema');
    const replies = Object.entries(responses as Json).map(
      ([status, reply]) => [Number(status), compile(schemaIn(reply))] as const,
    );
    const open = at(document, 'paths', path, method.toLowerCase(), 'requestBody');
    operations.set(name, {
      request: ajv.compile({
        ...(withoutReadOnly(schemaIn(open ?? requestBody)) as Json),
        components: withoutReadOnly(document.components),
      }),
      replies: new Map(replies),
    });
  }
  return {
    faultsOf: (name, { status, headers, body }) => {
      const validate = operations.get(name)?.replies.get(status);
      if (!validate) return [`the document has no ${status}`];
      const isValid = validate(body) === true;
      const faults = isValid ? [] : [ajv.errorsText(validate.errors)];
      if (headers['content-type'] !== 'application/json') faults.push('the Content-Type is not JSON');
      if (!/^[\w.-]{1,128}$/.test(String(headers['x-request-id']))) faults.push('there is no x-request-id');
      return faults;
    },
    takes: (name, body) => operations.get(name)?.request(withoutEmpty(body)) === true,
  };
}

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce((part, key) => (part as Json)[key], value);
}

/** An answer may say no more than the document does, so its objects take no other fields. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, closed(inner)]);
  const schema: Json = Object.fromEntries(entries);
  if (schema.type === 'object' && typeof schema.properties === 'object')
    schema.additionalProperties ??= false;
  return schema;
}

/** Fields that only the service sets are accepted and ignored, whatever they hold. */
function withoutReadOnly(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutReadOnly);
  if (typeof value !== 'object' || value === null) return value;
  const isReadOnly = (inner: unknown) =>
    typeof inner === 'object' && inner !== null && 'readOnly' in inner && inner.readOnly === true;
  const kept = Object.entries(value).filter(([, inner]) => !isReadOnly(inner));
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutReadOnly(inner)]));
}

/** Clients send "" for what they do not have, which every optional field takes. No field lies deeper than this. */
function withoutEmpty(body: unknown, depth = 3): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || depth === 0) return body;
  const entries = Object.entries(body).filter(([, value]) => value !== '');
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutEmpty(value, depth - 1)]));
}
