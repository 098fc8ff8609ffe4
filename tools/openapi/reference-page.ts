import { layout, plainSite } from '@node-registry/site/layout';
import { type Content, html, Markup } from '@node-registry/site/markup';
import { marked } from 'marked';
import { operations } from '../local/studio/operations.ts';

// biome-ignore lint/suspicious/noExplicitAny: the form of our own OpenAPI document is checked where it is made
type Json = any;

/** The methods of the typed client; those of paid operations are the studio's. */
const methods: Record<string, string> = {
  bulkNodeVersions: 'versions.bulk',
  publishNodeVersion: 'versions.register',
  updateNode: 'nodes.update',
  updateHostNode: 'hostNodes.update',
  ...Object.fromEntries(operations.map(({ name, method }) => [name, method])),
};
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
    const types = [field.type].flat().filter((type) => type !== 'null');
    const facts = limits
      .filter((limit) => limit in field)
      .map(
        (limit) =>
          `${limit} ${[field[limit]]
            .flat()
            .filter((value) => value !== null)
            .join(' | ')}`,
      );
    const said = [types.join(' or '), given.in, isRequired && 'required', ...facts]
      .filter(Boolean)
      .join(', ');
    return html`<li><code>${name}</code> <small>${said}</small> ${inline(field.description)}${list(field.items ?? field, depth + 1)}</li>`;
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
    const { operationId: name, verb, path, requestBody, security } = operation;
    const parameters: Json[] = (operation.parameters ?? []).map(at);
    const content = requestBody?.content['application/json'];
    const body = content && at(Object.values(content.examples ?? {})[0] ?? {}).value;
    const places = parameters.filter((each) => each.in === 'path');
    const address = places.reduce(
      (text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(example)),
      path,
    );
    const token = security.length > 0 && ' \\\n  -H "Authorization: Bearer $OWNER"';
    const written = (value: Json) => JSON.stringify(value, null, 2);
    const sent = body && ` \\\n  --json '${written(body).replaceAll("'", `'\\''`)}'`;
    const values = [
      ...places.map(({ example }) => `'${example}'`),
      body && written(body.node_versions ?? body),
    ];
    const parts = [
      places.length > 0 && `path: { ${places.map((each) => `${each.name}: '${each.example}'`).join(', ')} }`,
      content && `body: ${written(body)}`,
    ];
    const account =
      operation.tags.includes('Self-service') &&
      `account('${name}', { ${parts.filter(Boolean).join(', ')} })`;
    const call = methods[name] ? `${methods[name]}(${values.filter(Boolean).join(', ')})` : account;
    return html`<article id="${name}"><h2>${operation.summary}</h2>
<p><span class="badge accent">${verb}</span> <code>${path}</code></p>${markdown(operation.description)}
<details open><summary>curl</summary><pre class="call" tabindex="0">curl -X ${verb} '${apiUrl}${address}'${token}${sent}</pre></details>
${call && html`<details><summary>Client</summary><pre tabindex="0">await registry.${call};</pre></details>`}
<details><summary>Fields</summary><ul class="fields-list">${parameters.map((each) => item(each.name, each, each.required, 0))}</ul>${list(content?.schema)}</details>
<details><summary>Answers</summary>${Object.entries<Json>(operation.responses).map(([status, answer]) => html`<h3>${status}</h3>${markdown(at(answer).description)}${status === '200' && list(at(answer).content['application/json'].schema)}`)}</details></article>`;
  };
  const operations = Object.entries<Json>(document.paths).flatMap(([path, verbs]) =>
    Object.entries<Json>(verbs).map(([verb, operation]) => ({
      ...operation,
      path,
      verb: verb.toUpperCase(),
    })),
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
  const page = {
    title: 'API reference',
    description: title,
    path: '/reference/',
    style: 'studio.css',
  } as const;
  return layout(plainSite, { ...page, nav, badge: 'local', main });
}

/** Only for our own document, whose texts have no markup. */
function markdown(text = ''): Markup {
  return new Markup(marked.parse(text, { async: false }));
}

function inline(text = ''): Markup {
  return new Markup(marked.parseInline(text, { async: false }));
}
