import { marked } from 'marked';
import { isObject, type JsonObject } from '../../../lib/json.ts';
import { type Content, html, Markup } from 'site/markup';
import { describeField, type Schema, schemaName } from './fields.ts';

interface ReferencePage {
  /** Filled in for trying things out. */
  apiUrl: string;
  accessToken: string;
  homeUrl: string;
  /** The files next to the page: its script and style as they are named, and the document that it shows. */
  files: { script: string; style: string; document: string };
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: string;
}

interface Answer {
  description: string;
  headers?: Record<string, unknown>;
  content?: { 'application/json'?: { schema?: Schema; examples?: Record<string, { value?: unknown }> } };
}

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: unknown[];
  parameters: unknown[];
  requestBody: {
    content: { 'application/json': { schema: Schema; examples: { sample: { value: unknown } } } };
  };
  responses: Record<string, unknown>;
}

export interface Document {
  info: { title: string; version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> } & Record<string, Record<string, unknown>>;
}

interface Route {
  verb: string;
  path: string;
  operation: Operation;
}

/**
 * The document as one page of text, with a form for each operation. It is made once, needs no script to be read, and
 * neither loads anything from another machine nor reports to one.
 */
export function renderReferencePage(document: Document, page: ReferencePage): string {
  const routes = routesIn(document.paths);
  const { info, tags, components } = document;
  const { text } = html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>API reference</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${page.files.style}">
    <script type="module" src="${page.files.script}"></script>
  </head>
  <body data-api="${page.apiUrl}">
    <nav class="home" aria-label="Pages">
      <a href="${page.homeUrl}">Node registry: local stack</a> <a href="${page.files.document}">openapi.json</a>
    </nav>
    <main>
      <h1>${info.title}</h1>
      <p>Version ${info.version}</p>
      ${markdown(info.description)}
      <p><label>Access token for the calls below <input id="token" autocomplete="off" value="${page.accessToken}"></label></p>
      <nav aria-label="Operations"><ul>${routes.map((route) => html`<li><a href="#${anchorOf(route)}"><code>${route.verb} ${route.path}</code></a> ${route.operation.summary}</li>`)}</ul></nav>
      ${tags.map(
        ({ name, description }) => html`<section aria-labelledby="tag/${name.toLowerCase()}">
        <h2 id="tag/${name.toLowerCase()}">${name}</h2>
        <p>${description}</p>
        ${routes.filter(({ operation }) => operation.tags.includes(name)).map((route) => operationSection(document, route))}
      </section>`,
      )}
      <section aria-labelledby="notifications">
        <h2 id="notifications">Notifications</h2>
        ${routesIn(document.webhooks).map((route) => webhookSection(document, route))}
      </section>
      <section aria-labelledby="schemas">
        <h2 id="schemas">Schemas</h2>
        ${Object.entries(components.schemas).map(([name, schema]) => schemaSection(name, schema))}
      </section>
    </main>
  </body>
</html>
`;
  return text;
}

function routesIn(paths: Document['paths']): Route[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([verb, operation]) => ({ verb: verb.toUpperCase(), path, operation })),
  );
}

function anchorOf({ verb, path, operation }: Route): string {
  return `tag/${operation.tags[0]?.toLowerCase()}/${verb}${path}`;
}

function operationSection(document: Document, route: Route): Markup {
  const { operation, verb, path } = route;
  const { schema } = operation.requestBody.content['application/json'];
  return html`<article class="operation" id="${anchorOf(route)}">
    <h3>${operation.summary}</h3>
    <p><code class="route">${verb} ${path}</code></p>
    ${markdown(operation.description)}
    <p>${operation.security.length > 0 ? 'Needs an access token.' : 'Needs no access token.'}</p>
    <h4>Parameters</h4>
    ${parameterList(parametersOf(document, operation))}
    <h4>Request</h4>
    ${fieldsOf(document, schema)}
    ${tryForm(document, route)}
    <h4>Answers</h4>
    ${answerList(document, operation)}
  </article>`;
}

function webhookSection(document: Document, { path, operation }: Route): Markup {
  const { schema, examples } = operation.requestBody.content['application/json'];
  return html`<article class="operation" id="webhook/${path}">
    <h3>${operation.summary}</h3>
    ${markdown(operation.description)}
    ${parameterList(parametersOf(document, operation))}
    ${fieldsOf(document, schema)}
    ${sample(examples.sample.value)}
    ${answerList(document, operation)}
  </article>`;
}

function parametersOf(document: Document, operation: Operation): Parameter[] {
  return operation.parameters.map((each) => resolved<Parameter>(document, each));
}

function parameterList(parameters: readonly Parameter[]): Markup {
  return html`<dl>${parameters.map(
    ({ name, in: place, required, description = '' }) =>
      html`<dt><code>${name}</code> <small>${place}${required ? ', required' : ''}</small></dt><dd>${inline(description)}</dd>`,
  )}</dl>`;
}

/** The fields of a request or a reply; a schema with a name has a section of its own for those that it nests. */
function fieldsOf(document: Document, schema: Schema): Markup {
  return fieldList(resolved<Schema>(document, schema));
}

function fieldList(schema: Schema): Markup {
  const required = new Set(schema.required);
  return html`<dl>${Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const { type, notes, nested } = describeField(field);
    const facts = [required.has(name) && 'required', ...notes].filter(Boolean).join('; ');
    return html`<dt><code>${name}</code> <small>${typeMarkup(type)}${facts && `, ${facts}`}</small></dt>
      <dd>${inline(field.description ?? '')}${nested?.properties && fieldList(nested)}</dd>`;
  })}</dl>`;
}

function typeMarkup({ text, schema }: { text: string; schema?: string | undefined }): Content {
  return schema === undefined ? text : html`<a href="#schema/${schema}">${schema}</a>${text}`;
}

function schemaSection(name: string, schema: Schema): Markup {
  return html`<article id="schema/${name}"><h3>${name}</h3>
    ${schema.description && html`<p>${inline(schema.description)}</p>`}
    ${fieldList(schema)}
  </article>`;
}

function answerList(document: Document, { responses }: Operation): Markup {
  return html`${Object.entries(responses).map(([status, given]) => {
    const { description, headers = {}, content } = resolved<Answer>(document, given);
    const { schema, examples = {} } = content?.['application/json'] ?? {};
    const name = schema && schemaName(schema);
    return html`<details><summary><b>${status}</b> ${titleOf(status, description)}</summary>
      ${markdown(description)}
      ${name && html`<p>Body: <a href="#schema/${name}">${name}</a></p>`}
      ${Object.keys(headers).length > 0 && html`<p>Headers: ${Object.keys(headers).map((header) => html`<code>${header}</code> `)}</p>`}
      ${Object.values(examples).map((example) => sample(resolved<{ value?: unknown }>(document, example).value))}
    </details>`;
  })}`;
}

/** The codes of an error, as its sentences name them. */
function titleOf(status: string, description: string): string {
  const codes = [...description.matchAll(/^`(\w+)`:/gm)].map(([, code]) => code);
  if (codes.length > 0) return codes.join(', ');
  return status === 'default' ? 'The gateway itself' : description;
}

function tryForm(document: Document, { verb, path, operation }: Route): Markup {
  const parameters = parametersOf(document, operation);
  const body = JSON.stringify(
    operation.requestBody.content['application/json'].examples.sample.value,
    null,
    2,
  );
  return html`<details class="try"><summary>Try it</summary>
    <form data-verb="${verb}" data-path="${path}">
      ${parameters.map(
        ({ name, in: place, example = '' }) =>
          html`<label>${name} <input name="${name}" data-in="${place}" autocomplete="off" value="${place === 'path' && example}"></label>`,
      )}
      <label>Body <textarea name="body" rows="12" spellcheck="false">${body}</textarea></label>
      <button>Send</button>
      <output></output>
    </form>
  </details>`;
}

function sample(value: unknown): Content {
  return value !== undefined && html`<pre tabindex="0">${JSON.stringify(value, null, 2)}</pre>`;
}

/** What a reference in the document leads to, or the value itself. */
function resolved<Value>(document: Document, value: unknown): Value {
  const name = isObject(value) && value.$ref;
  if (typeof name !== 'string') return value as Value;
  const target = name
    .split('/')
    .slice(1)
    .reduce<unknown>((at, step) => (at as JsonObject)[step], document);
  return resolved(document, target);
}

/** Of our own document, whose texts escape what is no markup. */
function markdown(text: string): Markup {
  return new Markup(marked.parse(text, { async: false }));
}

function inline(text: string): Markup {
  return new Markup(marked.parseInline(text.replaceAll('<', '&lt;'), { async: false }));
}
