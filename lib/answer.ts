import { SerializedJson } from './json.ts';

/** A finished response, as API Gateway expects it. */
export interface Answer {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  /** Whether the body is base64, for example compressed. */
  isBase64Encoded?: boolean;
}

export function jsonAnswer(statusCode: number, body: unknown, headers?: Record<string, string>): Answer {
  if (body === undefined) return { statusCode, headers: { ...headers }, body: '' };
  const text = body instanceof SerializedJson ? body.text : JSON.stringify(body);
  return { statusCode, headers: { 'content-type': 'application/json', ...headers }, body: text };
}
