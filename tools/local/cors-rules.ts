import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { CORSRule } from '@aws-sdk/client-s3';
import { parse } from 'yaml';

/**
 * The requests that pages of other origins may send to the local bucket: those that the deployed bucket allows, and
 * downloads, because the local bucket also stands in for the distribution.
 */
export async function localCorsRules(): Promise<CORSRule[]> {
  const [archives, downloads, service] = await Promise.all(
    ['infra/template/archives.yml', 'infra/template/downloads.yml', 'serverless.yml'].map(readYaml),
  );
  const { corsOrigins } = { ...service.params.default, ...service.params.local };
  const uploads = archives.extensions.S3BucketArchives.Properties.CorsConfiguration.CorsRules;
  const { CorsConfig } = downloads.Resources.DownloadsHeaders.Properties.ResponseHeadersPolicyConfig;
  return [
    ...uploads.map((rule: DeployedRule) => ({
      AllowedOrigins: originsIn(rule.AllowedOrigins, corsOrigins),
      AllowedMethods: rule.AllowedMethods,
      AllowedHeaders: rule.AllowedHeaders,
      ExposeHeaders: rule.ExposedHeaders,
      MaxAgeSeconds: rule.MaxAge,
    })),
    {
      AllowedOrigins: originsIn(CorsConfig.AccessControlAllowOrigins.Items, corsOrigins),
      AllowedMethods: CorsConfig.AccessControlAllowMethods.Items,
      AllowedHeaders: CorsConfig.AccessControlAllowHeaders.Items,
      ExposeHeaders: CorsConfig.AccessControlExposeHeaders.Items,
    },
  ];
}

export type CorsHeaders = Record<string, string>;

/** The headers with which S3 answers a page's request; none if no rule allows it. */
export function corsHeaders(rules: readonly CORSRule[], { method, headers }: IncomingMessage): CorsHeaders {
  const rule = ruleFor(rules, headers.origin, method, []);
  return rule ? headersOf(rule, headers.origin) : {};
}

/** The answer to a browser's question whether it may send a request; undefined if it may not. */
export function preflightHeaders(
  rules: readonly CORSRule[],
  { headers }: IncomingMessage,
): CorsHeaders | undefined {
  const names = (headers['access-control-request-headers'] ?? '').toLowerCase().split(/,\s*/).filter(Boolean);
  const method = headers['access-control-request-method'];
  const rule = ruleFor(rules, headers.origin, method, names);
  if (!rule) return undefined;
  const allowed = { 'access-control-allow-methods': (rule.AllowedMethods ?? []).join(', ') };
  return {
    ...headersOf(rule, headers.origin),
    ...allowed,
    ...(names.length > 0 && { 'access-control-allow-headers': names.join(', ') }),
  };
}

function ruleFor(
  rules: readonly CORSRule[],
  origin: string | undefined,
  method: string | undefined,
  names: readonly string[],
): CORSRule | undefined {
  if (origin === undefined || method === undefined) return undefined;
  return rules.find(
    ({ AllowedOrigins = [], AllowedMethods = [], AllowedHeaders = [] }) =>
      AllowedOrigins.some((allowed) => matches(allowed, origin)) &&
      AllowedMethods.includes(method) &&
      names.every((name) => AllowedHeaders.some((allowed) => matches(allowed.toLowerCase(), name))),
  );
}

/** One asterisk stands for any text. */
function matches(pattern: string, text: string): boolean {
  const [start = '', end] = pattern.split('*');
  if (end === undefined) return pattern === text;
  return text.length >= start.length + end.length && text.startsWith(start) && text.endsWith(end);
}

function headersOf(rule: CORSRule, origin: string | undefined): CorsHeaders {
  const isAny = rule.AllowedOrigins?.includes('*');
  return {
    'access-control-allow-origin': isAny ? '*' : String(origin),
    ...(rule.ExposeHeaders && { 'access-control-expose-headers': rule.ExposeHeaders.join(', ') }),
    ...(rule.MaxAgeSeconds !== undefined && { 'access-control-max-age': String(rule.MaxAgeSeconds) }),
    vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
  };
}

/** CloudFormation's names for settings that S3's API names differently. */
interface DeployedRule {
  AllowedOrigins: Split;
  AllowedMethods: string[];
  AllowedHeaders: string[];
  ExposedHeaders: string[];
  MaxAge: number;
}

/** The arguments of !Split, which the reader below leaves out. */
type Split = [separator: string, text: string];

function originsIn([separator, text]: Split, corsOrigins: string): string[] {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the framework's reference to a parameter.
  return text.replace('${param:corsOrigins}', corsOrigins).split(separator);
}

async function readYaml(file: string) {
  return parse(await readFile(file, 'utf8'), { logLevel: 'error', merge: true });
}
