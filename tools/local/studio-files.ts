import { readFile } from 'node:fs/promises';
import { layout, plainSite } from '@node-registry/site/layout';
import { html } from '@node-registry/site/markup';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { promptWordsHelp } from '../simulators/prompt-words.ts';
import { bucketName, localAddress, ports } from './addresses.ts';

export const studioNav = {
  Studio: '/#studio',
  Requests: '/#requests',
  Spending: '/#spending',
  Registry: '/#registry',
  Reference: '/reference/',
  Tokens: '/#tokens',
};

export function studioPage(apiUrl: string): string {
  const { providers, s3, site } = ports;
  const origins = [apiUrl, localAddress(providers), localAddress(s3), localAddress(site)];
  return layout(plainSite, {
    title: 'Studio',
    description: 'Make films and pictures on the local stack, and see each request and its cost.',
    script: 'studio.js',
    style: 'studio.css',
    nav: studioNav,
    badge: 'local',
    origins,
    main: html`<div id="studio"><noscript><p class="empty">The studio needs scripts. <a href="${localAddress(site)}">The registry’s pages</a> and <a href="/reference/">the reference</a> do not.</p></noscript></div>`,
  });
}

/** A console for calls. What it makes of the document at run time needs markup that the other pages forbid. */
export function tryPage(apiUrl: string): string {
  const own = `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${own} ${apiUrl}">
<title>Try the API</title>
<link rel="icon" href="/site/icon.png">
<link rel="stylesheet" href="/site/swagger-ui.css">
<script src="/site/swagger-ui-bundle.js" defer></script>
<script type="module" src="/site/try.js"></script>
</head>
<body><main id="try"></main></body>
</html>
`.text;
}

export type StudioConfig = Awaited<ReturnType<typeof studioConfig>>;

/** What the local stack tells its studio: the requests as the OpenAPI document has them, tokens and URLs. */
export async function studioConfig(apiUrl: string, values: Record<string, string>) {
  const document = JSON.parse(await readFile('docs/openapi.json', 'utf8'));
  const paid = Object.keys(document.paths).filter((path) => path.startsWith('/proxy/'));
  const entries = paid.flatMap((path) => {
    const { post } = document.paths[path];
    if (!post) return [];
    const { schema } = post.requestBody.content['application/json'];
    return [{ name: post.operationId as string, path, schema: resolved(document, schema) }];
  });
  const [storeUrl, siteUrl] = [localAddress(ports.s3), localAddress(ports.site)];
  const downloadsUrl = `${storeUrl}/${bucketName}`;
  return {
    apiUrl,
    downloadsUrl,
    siteUrl,
    /** Tokens, keys and URLs to copy, by their names. The first is the token that the studio sends. */
    values: { ...values, 'The API': apiUrl, 'Downloads and the index': downloadsUrl, 'The pages': siteUrl },
    requests: Object.fromEntries(entries.map(({ name, schema }) => [name, schema as Schema])),
    paths: Object.fromEntries(entries.map(({ name, path }) => [name, path])),
    /** Words in a prompt that make the simulated provider go wrong, with their meanings. */
    failures: [...promptWordsHelp.matchAll(/^ {2}(\[.*?\]) +(.*)$/gm)].map(([, word = '', meaning = '']) => [
      word,
      meaning,
    ]),
    samplePicture: `${localAddress(ports.providers)}/media/sample.png`,
  };
}

/** A part of the OpenAPI document, without references. */
export interface Schema {
  type?: string | string[];
  description?: string;
  enum?: (string | null)[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

/** The schema without references. */
function resolved(document: JsonObject, value: unknown): object {
  if (Array.isArray(value)) return value.map((each) => (isObject(each) ? resolved(document, each) : each));
  const { $ref, ...own } = Object(value) as { $ref?: string };
  const target = $ref
    ?.split('/')
    .slice(1)
    .reduce<unknown>((at, step) => Object(at)[step], document);
  if (target) return resolved(document, target);
  const fields = Object.entries(own).map(([name, each]) => [
    name,
    typeof each === 'object' && each !== null ? resolved(document, each) : each,
  ]);
  return Object.fromEntries(fields);
}
