import { layout, plainSite } from '@node-registry/site/layout';
import { type Content, html, Markup } from '@node-registry/site/markup';
import { marked } from 'marked';
import { sampleServer } from './code-samples.ts';

// biome-ignore lint/suspicious/noExplicitAny: the form of our own OpenAPI document is checked where it is made
type Json = any;

const limits = 'minimum maximum minLength maxLength minItems maxItems enum default deprecated'.split(' ');
const maxDepth = 2;

interface ReferencePage {
  /** The URL for the page's calls. */
  apiUrl: string;
  /** The token that they send as `$OWNER`. */
  accessToken: string;
  nav: Record<string, string>;
}

/** The OpenAPI document as a page without scripts: each operation with its fields, a call and client code. */
export function referencePage(document: Json, { apiUrl, accessToken, nav }: ReferencePage): string {
  const at = (value: Json): Json => {
    const steps: string[] = value?.$ref?.split('/').slice(1) ?? [];
    return steps.length === 0 ? value : at(steps.reduce((part, step) => part[step], document));
  };
  const item = (name: string, given: Json, isRequired: boolean, depth: number): Content => {
    const field = { ...at(given.schema ?? given.anyOf?.[0]), ...at(given) };
    const facts = limits
      .filter((name) => name in field)
      .map((name) => `${name} ${listed(field[name], ' | ')}`);
    const said = [listed(field.type, ' or '), given.in, isRequired && 'required', ...facts];
    return html`<li><code>${name}</code> <small>${said.filter(Boolean).join(', ')}</small> ${inline(field.description)}${list(field.items ?? field, depth + 1)}</li>`;
  };
  const list = (schema: Json, depth = 0): Content => {
    const { properties, required = [] } = at(schema) ?? {};
    if (!properties || depth > maxDepth) return undefined;
    const fields = Object.entries(properties).map(([name, field]) =>
      item(name, field, required.includes(name), depth),
    );
    return html`<ul class="fields-list">${fields}</ul>`;
  };
  const article = (operation: Json): Content => {
    const parameters: Json[] = (operation.parameters ?? []).map(at);
    const samples = operation['x-codeSamples'].map(
      ({ label, source }: Json) =>
        html`<details${label === 'curl' && html` open`}><summary>${label}</summary><pre class="${label}" tabindex="0">${source.replaceAll(sampleServer, apiUrl)}</pre></details>`,
    );
    return html`<article id="${operation.operationId}"><h2>${operation.summary}</h2>
<p><span class="badge accent">${operation.verb.toUpperCase()}</span> <code>${operation.path}</code></p>${markdown(operation.description)}${samples}
<details><summary>Fields</summary><ul class="fields-list">${parameters.map((each) => item(each.name, each, each.required, 0))}</ul>${list(operation.requestBody?.content['application/json'].schema)}</details>
<details><summary>Answers</summary>${Object.entries<Json>(operation.responses).map(([status, answer]) => html`<h3>${status}</h3>${markdown(at(answer).description)}${status === '200' && list(at(answer).content['application/json'].schema)}`)}</details></article>`;
  };
  const operations = Object.entries<Json>(document.paths).flatMap(([path, verbs]) =>
    Object.entries<Json>(verbs).map(([verb, operation]) => ({ ...operation, path, verb })),
  );
  const groups: [Json, Json[]][] = document.tags.map((tag: Json) => [
    tag,
    operations.filter(({ tags }) => tags.includes(tag.name)),
  ]);
  const { title, version, description } = document.info;
  const main = html`<div class="reference"><nav class="box" aria-label="Operations">${groups.map(([{ name }, own]) => html`<h2>${name}</h2><ul class="plain">${own.map((each) => html`<li><a href="#${each.operationId}">${each.summary}</a></li>`)}</ul>`)}</nav>
<div class="stack"><h1>${title}</h1>
<p>Version ${version} <a class="button" href="/reference/try">Try it</a> <a class="button" href="/reference/openapi.json">openapi.json</a></p>
<div>${markdown(description)}</div><p>The calls run as they stand, once the shell has a token; those of a publisher after “Make a publisher”:</p><pre class="token" tabindex="0">OWNER='${accessToken}'</pre>
${groups.map(([{ name, description }, own]) => html`<section aria-label="${name}"><h2 class="part">${name}</h2>${markdown(description)}${own.map(article)}</section>`)}</div></div>`;
  return layout(plainSite, {
    title: 'API reference',
    description: title,
    path: '/reference/',
    style: 'studio.css',
    nav,
    badge: 'local',
    main,
  });
}

function listed(values: Json, separator: string): string {
  const given = [values].flat().filter((value) => value !== null && value !== 'null');
  return given.join(separator);
}

/** Only for our own document, whose texts have no markup. */
const markdown = (text = '') => new Markup(marked.parse(text, { async: false }));
const inline = (text = '') => new Markup(marked.parseInline(text, { async: false }));
