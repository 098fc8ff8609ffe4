import { gzipSync } from 'node:zlib';
import type { Answer } from '../paid/participant.ts';

/** A smaller answer fits into one packet anyway. */
const minBytes = 1400;

/**
 * The first level saves most of the bytes in a quarter of the time: it makes 1.46 MB of 1,000 versions in 5.96 MB in
 * 174 ms, and the usual sixth level makes 1.10 MB in 739 ms (measured under load).
 */
const level = 1;

/** The answer in gzip if the caller accepts that: the gateway compresses nothing itself. */
export function compressed(answer: Answer, acceptEncoding: string | undefined): Answer {
  const headers = { ...answer.headers, vary: 'accept-encoding' };
  if (!accepts(acceptEncoding) || answer.body.length < minBytes) return { ...answer, headers };
  return {
    statusCode: answer.statusCode,
    headers: { ...headers, 'content-encoding': 'gzip' },
    body: gzipSync(answer.body, { level }).toString('base64'),
    isBase64Encoded: true,
  };
}

/** `gzip;q=0` says that it is not accepted. */
function accepts(acceptEncoding = ''): boolean {
  return acceptEncoding
    .split(',')
    .some((coding) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));
}
