import { marked } from 'marked';
import { layout, plainSite } from '@node-registry/site/layout';
import { type Content, html, Markup } from '@node-registry/site/markup';
import { isObject, type JsonObject } from '../../lib/json.ts';

/** The part of the document that the page reads. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  deprecated?: boolean;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  [limit: string]: unknown;
}

interface Body {
  'application/json': { schema: Schema; examples: Record<string, unknown> };
}

interface Operation {
  summary: string;
  description: string;
  tags: string[];
  security: unknown[];
  parameters: unknown[];
  requestBody: { content: Body };
  responses: Record<string, unknown>;
}

type Paths = Record<string, Record<string, Operation>>;

interface Document {
  info: { title: string; version: string; description: string };
  paths: Paths;
  webhooks: Paths;
  'x-public-index': { path: string; schema: Schema }[];
  components: { schemas: Record<string, Schema> };
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description: string;
  example?: string;
}

interface Route {
  verb: string;
  path: string;
  operation: Operation;
}

export interface ReferencePage {
  /** The URL for the page's calls. */
  apiUrl: string;
  /** The token that they send as `$OWNER`. */
  accessToken: string;
  /** Links next to the page, in its footer. */
  links: Record<string, string>;
}

/** The OpenAPI document as a page without scripts: each operation with its fields, responses and a call. */
export function referencePage(document: Document, { apiUrl, accessToken, links }: ReferencePage): string {
  const { info, components } = document;
  const operations = routesIn(document.paths);
  const schemas = Object.entries(components.schemas);
  return layout(
    { ...plainSite, links },
    {
      title: 'API reference',
      description: info.title,
      main: html`<h1>${info.title}</h1>
<p>Version ${info.version}</p>
${markdown(info.description)}
<p>The calls below run as they stand, once the shell has a token:</p>
<pre tabindex="0">OWNER='${accessToken}'</pre>
<ul>${operations.map(({ verb, path, operation }) => html`<li><a href="#${verb}${path}">${operation.summary}</a></li>`)}</ul>
${operations.map((route) => {
  const { verb, path, operation } = route;
  return html`<article id="${verb}${path}"><h2>${operation.summary}</h2>
<p><code>${verb} ${path}</code></p>
${operationParts(document, operation, html`<pre class="call" tabindex="0">${callOf(document, route, apiUrl)}</pre>`)}</article>`;
})}
${routesIn(document.webhooks).map(
  ({ operation }) => html`<article><h2>${operation.summary}</h2>
${operationParts(document, operation, examplesOf(document, operation.requestBody.content))}</article>`,
)}
<h2>Files of the public index</h2>
<ul>${document['x-public-index'].map(({ path, schema }) => html`<li><code>${path}</code> ${typeOf(schema)}</li>`)}</ul>
<h2>Schemas</h2>
${schemas.map(
  ([name, schema]) => html`<article id="schema/${name}"><h3>${name}</h3>
<p>${inline(schema.description)}</p>${fieldList(schema)}</article>`,
)}`,
    },
  );
}

function routesIn(paths: Paths): Route[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([verb, operation]) => ({ verb: verb.toUpperCase(), path, operation })),
  );
}

function operationParts(document: Document, operation: Operation, example: Content): Content {
  const { schema } = operation.requestBody.content['application/json'];
  const fields = parametersOf(document, operation).map(
    ({ name, in: place, required, description }) =>
      html`<li><code>${name}</code> <small>${place}${required && ', required'}</small> ${inline(description)}</li>`,
  );
  return html`${markdown(operation.description)}
<p>${operation.security.length === 0 ? 'Needs no access token.' : 'Needs an access token.'}</p>
<ul>${fields}</ul>${fieldList(resolved<Schema>(document, schema))}${example}
${Object.entries(operation.responses).map(([status, given]) => answer(document, status, given))}`;
}

function answer(document: Document, status: string, given: unknown): Markup {
  const found = resolved<{ description: string; headers?: JsonObject; content?: Body }>(document, given);
  const { description, headers = {}, content } = found;
  const codes = [...description.matchAll(/^`(\w+)`:/gm)].map(([, code]) => code);
  const names = Object.keys(headers).join(', ');
  return html`<details><summary>${status} ${codes.join(', ') || description.split('\n', 1)}</summary>
${markdown(description)}
${content && html`<p>Body: ${typeOf(content['application/json'].schema)}</p>`}
${names && html`<p>Headers: ${names}</p>`}
${examplesOf(document, content)}</details>`;
}

function examplesOf(document: Document, content: Body | undefined): Content {
  return Object.values(content?.['application/json'].examples ?? {}).map((example) => {
    const { value } = resolved<{ value: unknown }>(document, example);
    return html`<pre tabindex="0">${JSON.stringify(value, null, 2)}</pre>`;
  });
}

/** A command for a shell that has a token in `$OWNER`. */
function callOf(document: Document, { verb, path, operation }: Route, apiUrl: string): string {
  const samples = parametersOf(document, operation).map(({ name, example = '' }) => [name, example] as const);
  const address = samples.reduce(
    (at, [name, value]) => at.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  );
  const [sample] = Object.values(operation.requestBody.content['application/json'].examples);
  const body = JSON.stringify(resolved<{ value: unknown }>(document, sample).value, null, 2);
  const token = operation.security.length === 0 ? '' : ' -H "Authorization: Bearer $OWNER"';
  return `curl -X ${verb} '${apiUrl}${address}'${token} --json '${body.replaceAll("'", `'\\''`)}'`;
}

function parametersOf(document: Document, { parameters }: Operation): Parameter[] {
  return parameters.map((each) => resolved<Parameter>(document, each));
}

/** A schema with a name has its fields in a section of its own. */
function fieldList({ properties, required = [] }: Schema): Content {
  if (!properties) return undefined;
  return html`<ul>${Object.entries(properties).map(([name, field]) => {
    const facts = [required.includes(name) && ', required', ...factsOf(field).map((fact) => `, ${fact}`)];
    return html`<li><code>${name}</code> <small>${typeOf(field)}${facts}</small> ${inline(field.description)}${fieldList(field.items ?? field)}</li>`;
  })}</ul>`;
}

const limits = {
  minimum: (value: unknown) => `at least ${value}`,
  maximum: (value: unknown) => `at most ${value}`,
  minLength: (value: unknown) => `at least ${value} characters`,
  maxLength: (value: unknown) => `at most ${value} characters`,
  minItems: (value: unknown) => `at least ${value} items`,
  maxItems: (value: unknown) => `at most ${value} items`,
  enum: (values: unknown) => `one of ${[values].flat().filter(Boolean).join(', ')}`,
  default: (value: unknown) => `default ${JSON.stringify(value)}`,
  deprecated: () => 'deprecated',
};

/** Limits, choices and the default, in words. */
function factsOf(field: Schema): string[] {
  const all = { ...field.anyOf?.[0], ...field };
  return Object.entries(limits).flatMap(([name, say]) => (name in all ? [say(all[name])] : []));
}

function typeOf({ $ref, anyOf, items, type = 'anything', format }: Schema): Content {
  const [variant] = anyOf ?? [];
  if (variant) return typeOf(variant);
  if (items) return [typeOf(items), '[]'];
  const name = $ref?.split('/').at(-1);
  if (name !== undefined) return html`<a href="#schema/${name}">${name}</a>`;
  const types = [type].flat().filter((each) => each !== 'null');
  return types.join(' or ') + (format ? ` (${format})` : '');
}

/** The target of a reference in the document, or the value itself. */
function resolved<Value>(document: Document, value: unknown): Value {
  const name = isObject(value) && value.$ref;
  if (typeof name !== 'string') return value as Value;
  const steps = name.split('/').slice(1);
  const target = steps.reduce<unknown>((at, step) => (isObject(at) ? at[step] : undefined), document);
  return resolved(document, target);
}

/** Only for our own document, whose texts escape everything that isn't markup. */
function markdown(text: string): Markup {
  return new Markup(marked.parse(text, { async: false }));
}

function inline(text = ''): Markup {
  return new Markup(marked.parseInline(text.replaceAll('<', '&lt;'), { async: false }));
}
