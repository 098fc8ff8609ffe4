import { type RequestOptions, request } from 'node:http';
import { text } from 'node:stream/consumers';

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
      text(incoming).then((body) => resolve({ status: incoming.statusCode ?? 0, text: body }), lost);
    });
    outgoing.on('error', lost);
    outgoing.end(body);
  });
}
