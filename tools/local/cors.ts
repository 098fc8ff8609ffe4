import type { IncomingMessage } from 'node:http';

/** What pages of other origins may send and read, as serverless.yml says it for the API. */
export interface Cors {
  allowedOrigins: readonly string[];
  allowedMethods: readonly string[];
  allowedHeaders: readonly string[];
  exposedResponseHeaders: readonly string[];
  maxAge?: number;
}

type CorsHeaders = Record<string, string>;

/** The headers of a response to a page; none if its origin is not allowed. */
export function corsHeaders(
  { allowedOrigins, exposedResponseHeaders }: Cors,
  { headers: { origin } }: IncomingMessage,
): CorsHeaders {
  const isAny = allowedOrigins.includes('*');
  if (origin === undefined || !(isAny || allowedOrigins.includes(origin))) return {};
  return {
    'access-control-allow-origin': isAny ? '*' : origin,
    'access-control-expose-headers': exposedResponseHeaders.join(',').toLowerCase(),
    ...(!isAny && { vary: 'origin' }),
  };
}

/** Those of the response to a preflight request. */
export function preflightHeaders(cors: Cors, request: IncomingMessage): CorsHeaders {
  const headers = corsHeaders(cors, request);
  if (headers['access-control-allow-origin'] === undefined) return {};
  return {
    ...headers,
    'access-control-allow-methods': cors.allowedMethods.join(','),
    'access-control-allow-headers': cors.allowedHeaders.join(',').toLowerCase(),
    ...(cors.maxAge !== undefined && { 'access-control-max-age': String(cors.maxAge) }),
  };
}
