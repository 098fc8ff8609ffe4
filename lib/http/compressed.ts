import { gzipSync } from 'node:zlib';
import type { GatewayFunction } from './gateway-handler.ts';

/** Sends a function's success as gzip to callers that accept it: the gateway compresses nothing itself. */
export function compressed(handler: GatewayFunction): GatewayFunction {
  return async (event, invocation) => {
    const answer = await handler(event, invocation);
    if (answer.statusCode !== 200) return answer;
    const headers = { ...answer.headers, vary: 'accept-encoding' };
    if (!accepts(event.headers?.['accept-encoding']) || answer.body.length < minBytes)
      return { ...answer, headers };
    return {
      statusCode: answer.statusCode,
      headers: { ...headers, 'content-encoding': 'gzip' },
      body: gzipSync(answer.body, { level }).toString('base64'),
      isBase64Encoded: true,
    };
  };
}

/** A smaller response fits into one packet anyway. */
const minBytes = 1400;

/**
 * Digests dominate the compressed size. Of 1,000 typical versions level 1 leaves 13.4 % in 5.4 ms of CPU,
 * level 6 11.2 % in 9.5 ms and level 9 10.9 % in 13 ms; on the largest response, 6 MB, level 6 takes four
 * times as long.
 */
const level = 1;

/** `gzip;q=0` rejects gzip. */
function accepts(acceptEncoding = ''): boolean {
  return acceptEncoding
    .split(',')
    .some((coding) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));
}
