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
export type Answer =
  | number
  | 'hang'
  | 'reset'
  | 'endless'
  | 'halfway'
  | { redirectTo: string }
  | { text: string };

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
    answer(response, (answers.length > 1 ? answers.shift() : answers[0]) ?? 204);
  });
  return { url: `http://${host}:${port}`, received, answers, stop };
}

function answer(response: ServerResponse, kind: Answer): void {
  if (kind === 'hang') return;
  if (kind === 'reset') response.socket?.resetAndDestroy();
  else if (kind === 'halfway') {
    response.writeHead(200, { 'content-length': 1000 }).write('half of it');
    setImmediate(() => response.socket?.destroy());
  } else if (kind === 'endless') pour(response.writeHead(200));
  else if (typeof kind === 'number') response.writeHead(kind).end();
  else if ('redirectTo' in kind) response.writeHead(302, { location: kind.redirectTo }).end();
  else response.writeHead(500).end(kind.text);
}

/** Writes until the other side hangs up. */
function pour(response: ServerResponse): void {
  if (response.destroyed) return;
  response.write('x'.repeat(1024), () => setImmediate(pour, response));
}

export function isSigned({ headers, body }: Received): boolean {
  const [signingKey] = readSigningKeys(String(process.env.NOTIFICATION_SIGNING_KEY));
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  const bytes = Buffer.from(String(signature).replace('v1a,', ''), 'base64');
  const content = Buffer.from(`${id}.${timestamp}.${body}`);
  return signingKey !== undefined && verify(null, content, createPublicKey(signingKey.privateKey), bytes);
}
