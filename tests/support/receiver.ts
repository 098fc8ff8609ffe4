import { createPublicKey, verify } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { readSigningKeys } from '../../lib/notifications/signature.ts';
import { serve } from './serve.ts';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** How a receiver answers: with a status, or not as it should. */
export type Answer = number | ((response: ServerResponse) => unknown);

export interface Receiver {
  url: string;
  received: Received[];
  /** The answers to the next notifications; the last one stays. */
  answers: Answer[];
  stop: () => Promise<void>;
}

/** A receiver of notifications on a loopback port; `localhost` and `127.0.0.1` count as two hosts. */
export async function startReceiver(host: '127.0.0.1' | 'localhost' = '127.0.0.1'): Promise<Receiver> {
  const received: Received[] = [];
  const answers: Answer[] = [];
  const { port, stop } = await serve(async (request, response) => {
    const body = await text(request);
    received.push({ path: String(request.url), headers: request.headers, body });
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? 204;
    if (typeof answer === 'number') response.writeHead(answer).end();
    else answer(response);
  });
  return { url: `http://${host}:${port}`, received, answers, stop };
}

export function isSigned({ headers, body }: Received): boolean {
  const [signingKey] = readSigningKeys(String(process.env.NOTIFICATION_SIGNING_KEY));
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  const bytes = Buffer.from(String(signature).replace('v1a,', ''), 'base64');
  const content = Buffer.from(`${id}.${timestamp}.${body}`);
  return signingKey !== undefined && verify(null, content, createPublicKey(signingKey.privateKey), bytes);
}
