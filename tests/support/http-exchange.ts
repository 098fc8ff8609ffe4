import { type IncomingMessage, type RequestOptions, request } from 'node:http';

export interface HttpAnswer {
  /** 0 if no answer came. */
  status: number;
  text: string;
}

/** Sends a request unchanged: fetch would normalize paths and methods. */
export function send(url: string, options: RequestOptions, body: string | undefined): Promise<HttpAnswer> {
  return new Promise((resolve) => {
    const lost = (error: Error) => resolve({ status: 0, text: String(error) });
    const outgoing = request(url, options, (incoming) => {
      readText(incoming).then((text) => resolve({ status: incoming.statusCode ?? 0, text }), lost);
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
    outgoing.on('error', lost);
    outgoing.end(body);
  });
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
