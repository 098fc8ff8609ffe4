import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';

/** In CloudFormation's format. */
interface CorsRule {
  AllowedMethods: string[];
  AllowedHeaders: string[];
  ExposedHeaders: string[];
  MaxAge?: number;
}

/**
 * The requests that pages may send to the local bucket: those that the deployed bucket allows, and downloads, because
 * the local bucket also replaces the distribution. Pages of this machine may send them, from any origin.
 */
export function localCorsRules(): Promise<CorsRule[]> {
  known ??= readRules();
  return known;
}

let known: Promise<CorsRule[]> | undefined;

async function readRules(): Promise<CorsRule[]> {
  const [archives, downloads] = await Promise.all(
    ['infra/template/archives.yml', 'infra/template/downloads.yml'].map(readYaml),
  );
  const uploads: CorsRule[] = archives.Resources.S3BucketArchives.Properties.CorsConfiguration.CorsRules;
  const { CorsConfig } = downloads.Resources.DownloadsHeaders.Properties.ResponseHeadersPolicyConfig;
  return [
    // Downloads have the headers of the distribution.
    ...uploads.filter(({ AllowedMethods }) => AllowedMethods.includes('PUT')),
    {
      AllowedMethods: CorsConfig.AccessControlAllowMethods.Items,
      AllowedHeaders: CorsConfig.AccessControlAllowHeaders.Items,
      ExposedHeaders: CorsConfig.AccessControlExposeHeaders.Items,
    },
  ];
}

async function readYaml(file: string) {
  // 15 MB that only a page's request needs.
  const { parse } = await import('yaml');
  return parse(await readFile(file, 'utf8'), { logLevel: 'error' });
}

export type CorsHeaders = Record<string, string>;

/** The headers of S3's response to a page's request; empty if no rule allows it. */
export function corsHeaders(rules: readonly CorsRule[], { method, headers }: IncomingMessage): CorsHeaders {
  const rule = rules.find(({ AllowedMethods }) => AllowedMethods.includes(String(method)));
  return rule && headers.origin !== undefined ? headersOf(rule) : {};
}

/** The response to a browser's preflight request; undefined if it is rejected. */
export function preflightHeaders(
  rules: readonly CorsRule[],
  { headers: { origin, ...headers } }: IncomingMessage,
): CorsHeaders | undefined {
  const names = (headers['access-control-request-headers'] ?? '').toLowerCase().split(/,\s*/).filter(Boolean);
  const method = String(headers['access-control-request-method']);
  const rule = rules.find(({ AllowedMethods, AllowedHeaders }) => {
    const allowed = AllowedHeaders.map((name) => name.toLowerCase());
    return AllowedMethods.includes(method) && names.every((name) => allowed.includes(name));
  });
  if (!rule || origin === undefined) return undefined;
  return {
    ...headersOf(rule),
    'access-control-allow-methods': rule.AllowedMethods.join(', '),
    ...(names.length > 0 && { 'access-control-allow-headers': names.join(', ') }),
  };
}

function headersOf({ ExposedHeaders, MaxAge }: CorsRule): CorsHeaders {
  return {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': ExposedHeaders.join(', '),
    ...(MaxAge !== undefined && { 'access-control-max-age': String(MaxAge) }),
    vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
  };
}
