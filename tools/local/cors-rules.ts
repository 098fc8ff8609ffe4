import { readFile } from 'node:fs/promises';
import type { CORSRule } from '@aws-sdk/client-s3';
import { parse } from 'yaml';

/**
 * What pages of other origins may do with the local bucket: what they may do with the deployed one, and, since the
 * local one also stands in for the distribution, with downloads.
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

/** The same as the document that S3 keeps. */
export function corsDocument(rules: readonly CORSRule[]): string {
  const elements = (name: string, values: readonly unknown[] = []) =>
    values.map((value) => `<${name}>${value}</${name}>`).join('');
  const texts = rules.map(
    (rule) =>
      elements('AllowedOrigin', rule.AllowedOrigins) +
      elements('AllowedMethod', rule.AllowedMethods) +
      elements('AllowedHeader', rule.AllowedHeaders) +
      elements('ExposeHeader', rule.ExposeHeaders) +
      elements('MaxAgeSeconds', rule.MaxAgeSeconds === undefined ? [] : [rule.MaxAgeSeconds]),
  );
  return `<CORSConfiguration>${elements('CORSRule', texts)}</CORSConfiguration>`;
}

/** CloudFormation's names of what S3's API calls otherwise. */
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
