import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { parseAsWritten } from '../../lib/json.ts';
import { requireNoOpenWrites } from './open-writes.ts';

export type Handler = (event: APIGatewayProxyEventV2, context: Context) => Promise<Answer>;

interface Answer {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  isBase64Encoded?: boolean;
}

export interface Changes {
  path?: Record<string, string> | undefined;
  body?: unknown;
  /** Sent unchanged, for a body that is not JSON. */
  rawBody?: string;
  headers?: Record<string, string | undefined> | undefined;
  isBase64Encoded?: boolean;
  remainingMs?: number;
}

export interface Result {
  status: number;
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  body: any;
}

/** Calls a handler with its sample event, changed in the few fields that matter to the test. */
export async function invoke(
  handler: Handler | undefined,
  name: string,
  changes: Changes = {},
): Promise<Result> {
  const answer = await answerOf(handler, name, changes);
  return { ...answer, body: parseAsWritten(answer.text) };
}

/** The same without a look into the body. */
export async function answerOf(
  handler: Handler | undefined,
  name: string,
  changes: Changes,
): Promise<Omit<Result, 'body'>> {
  if (!handler) throw new Error(`There is no handler of ${name}.`);
  const event = sampleEvent(name);
  const headers = Object.entries({ ...event.headers, ...changes.headers }).filter(
    ([, value]) => value !== undefined,
  );
  event.headers = Object.fromEntries(headers);
  event.pathParameters = { ...event.pathParameters, ...changes.path };
  if (changes.body !== undefined) event.body = JSON.stringify(changes.body);
  if (changes.rawBody !== undefined) event.body = changes.rawBody;
  if (changes.isBase64Encoded !== undefined) event.isBase64Encoded = changes.isBase64Encoded;
  const { remainingMs = 29_000 } = changes;
  const context = { awsRequestId: 'an-invocation', getRemainingTimeInMillis: () => remainingMs } as Context;
  // The function's own deadline is a second before its limit.
  const answer = await requireNoOpenWrites(remainingMs - 1000, () => handler(event, context));
  const text = answer.isBase64Encoded
    ? gunzipSync(Buffer.from(answer.body, 'base64')).toString()
    : answer.body;
  return { status: answer.statusCode, headers: answer.headers, text };
}

export function sampleEvent(name: string): APIGatewayProxyEventV2 {
  return JSON.parse(readFileSync(new URL(`../../events/${name}.json`, import.meta.url), 'utf8'));
}

export function sampleBody(name: string): Record<string, unknown> {
  return JSON.parse(String(sampleEvent(name).body));
}
