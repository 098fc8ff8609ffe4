import type { Call } from './stack.ts';

export interface Operation {
  id: string;
  summary: string;
  method: string;
  template: string;
  /** Where the reference page describes it. */
  reference: string;
  /** The document's sample request, with a version that was never published. */
  sample: () => Call;
}

interface DocumentedOperation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters: { in?: string; name?: string; example?: string }[];
  requestBody: { content: { 'application/json': { examples: { sample: { value: Fields } } } } };
}

type Fields = Record<string, unknown>;

/** Every operation of the OpenAPI document. */
export async function readOperations(): Promise<Operation[]> {
  const document: { paths: Record<string, Record<string, DocumentedOperation>> } = await (
    await fetch('/openapi.json')
  ).json();
  return Object.entries(document.paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(([verb, documented]) => {
      const method = verb.toUpperCase();
      return {
        ...{ id: documented.operationId, summary: documented.summary, method, template },
        reference: `/reference/#tag/${documented.tags[0]?.toLowerCase()}/${method}${template}`,
        sample: () => ({ method, ...sampleOf(template, documented) }),
      };
    }),
  );
}

function sampleOf(template: string, { operationId, tags, parameters, requestBody }: DocumentedOperation) {
  const values = Object.fromEntries(parameters.map(({ name = '', example = '' }) => [name, example]));
  const body = structuredClone(requestBody.content['application/json'].examples.sample.value);
  const notified = { Images: 'webhook_url', Videos: 'callback_url' }[String(tags[0])];
  if (notified) body[notified] = `${location.origin}/callbacks`;
  if (operationId === 'publishNodeVersion')
    body.node_version = { ...(body.node_version as Fields), version: freshVersion() };
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(values[name])));
  return { path, body };
}

function freshVersion(): string {
  return `1.0.${Date.now()}`;
}
