import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Cors } from './cors.ts';

/**
 * What pages may send to the local bucket: what the deployed bucket allows, and downloads, because the local bucket
 * also replaces the distribution. Pages of this machine may send it, from any origin. Undefined for anything else.
 */
export async function ruleFor({ method, headers }: IncomingMessage): Promise<Cors | undefined> {
  known ??= readRules();
  const wanted = headers['access-control-request-method'] ?? String(method);
  const names = (headers['access-control-request-headers'] ?? '').toLowerCase().split(/,\s*/).filter(Boolean);
  return (await known).find(({ allowedMethods, allowedHeaders }) => {
    const allowed = allowedHeaders.map((name) => name.toLowerCase());
    return allowedMethods.includes(wanted) && names.every((name) => allowed.includes(name));
  });
}

let known: Promise<Cors[]> | undefined;

async function readRules(): Promise<Cors[]> {
  const [archives, downloads] = await Promise.all(
    ['infra/template/archives.yml', 'infra/template/downloads.yml'].map(readYaml),
  );
  const { CorsRules } = archives.Resources.S3BucketArchives.Properties.CorsConfiguration;
  // Downloads have the headers of the distribution.
  const upload = CorsRules.find((rule: { AllowedMethods: string[] }) => rule.AllowedMethods.includes('PUT'));
  const { CorsConfig } = downloads.Resources.DownloadsHeaders.Properties.ResponseHeadersPolicyConfig;
  return [
    {
      allowedOrigins: ['*'],
      allowedMethods: upload.AllowedMethods,
      allowedHeaders: upload.AllowedHeaders,
      exposedResponseHeaders: upload.ExposedHeaders,
      maxAge: upload.MaxAge,
    },
    {
      allowedOrigins: ['*'],
      allowedMethods: CorsConfig.AccessControlAllowMethods.Items,
      allowedHeaders: CorsConfig.AccessControlAllowHeaders.Items,
      exposedResponseHeaders: CorsConfig.AccessControlExposeHeaders.Items,
    },
  ];
}

async function readYaml(file: string) {
  // 15 MB that only a page's request needs.
  const { parse } = await import('yaml');
  return parse(await readFile(file, 'utf8'), { logLevel: 'error' });
}
