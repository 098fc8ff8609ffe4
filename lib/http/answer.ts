import { SerializedJson } from '../bounded-json.ts';
import type { Answer } from '../requests/phases.ts';

export function jsonAnswer(statusCode: number, body: unknown, headers?: Record<string, string>): Answer {
  const text = body instanceof SerializedJson ? body.text : JSON.stringify(body);
  return { statusCode, headers: { 'content-type': 'application/json', ...headers }, body: text };
}
