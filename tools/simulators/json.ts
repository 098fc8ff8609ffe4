import type { ServerResponse } from 'node:http';
import { isObject, parseAsWritten } from '../../lib/json.ts';
import type { Fields } from './wire-format.ts';

/** Undefined if the text isn't a JSON object. */
export function parseObject(text: string): Fields | undefined {
  try {
    const value = parseAsWritten(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function answerJson(response: ServerResponse, status: number, content: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(content));
}
