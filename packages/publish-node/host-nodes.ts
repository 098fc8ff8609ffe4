import { setTimeout as pause } from 'node:timers/promises';
import type { NodeVersion, RegistryClient } from '@node-registry/registry-client';
import {
  choicesOf,
  type ExtractedFields,
  hasMoreChoices,
} from '@node-registry/registry-rules/host-node-entries';
import type { FoundHostNode, FoundHostNodes } from './extraction.ts';
import type { Project } from './project.ts';

interface Shown {
  name: string;
  fields: { [Field in keyof ExtractedFields]?: ExtractedFields[Field] | undefined };
}

interface Read extends Pick<FoundHostNodes, 'status' | 'notes'> {
  reason?: string | undefined;
  nodes: readonly Shown[];
}

/** The host nodes that the registry will show, for a person. */
export function hostNodeLines({ status, reason, nodes, notes }: Read): string[] {
  return [
    '',
    'The host nodes, read without running anything:',
    ...nodes.flatMap((node) => [
      line(node),
      ...signatureOf(node.fields).map((each) => `    ${each}`),
      ...(node.fields.left_open ?? []).map((open) => `    left open: ${open}`),
    ]),
    ...(notes.length > 0 ? ['What could not be followed, and may be wrong:'] : []),
    ...notes.map((note) => `  ${note}`),
    status === 'success'
      ? `${nodes.length} in all.`
      : `They could not be read, or not all of them: ${reason}`,
  ];
}

function line({ name, fields }: Shown): string {
  const { category, display_name: title, function: entry } = fields;
  const titleText = title && title !== name ? ` "${title}"` : '';
  const condition = fields.conditional ? ' (only under a condition)' : '';
  return `  ${name}${titleText}  (${category ?? '?'}: ${entry ?? '?'})${condition}`;
}

/** The same for a program, in the registry's terms. */
export function hostNodesResult({ status, reason, nodes, notes }: FoundHostNodes) {
  return {
    host_node_extract_status: status,
    ...(reason !== undefined && { host_node_extract_reason: reason }),
    host_nodes: nodes.map(result),
    host_node_notes: notes,
  };
}

function result({ name, fields }: FoundHostNode): object {
  const known = Object.entries(fields).filter(([, value]) => value !== null);
  return { host_node_name: name, conditional: false, left_open: [], ...Object.fromEntries(known) };
}

const maxShown = 12;

/** The inputs and outputs of a host node, in a line each. Its texts are a stranger's JSON. */
function signatureOf({ input_types, return_types, return_names, left_open }: Shown['fields']): string[] {
  const groups = parsed(input_types);
  const isCut = (group: string, name: string) => hasMoreChoices(left_open ?? [], group, name);
  const inputs = Object.entries({ required: '', optional: '?' }).flatMap(([group, mark]) =>
    Object.entries(Object(groups[group])).map(
      ([name, spec]) => `${name}${mark} ${typeOf(spec, isCut(group, name))}`,
    ),
  );
  const names = listIn(return_names);
  const outputs = listIn(return_types).map((type, at) =>
    names[at] === undefined || names[at] === type ? textOf(type) : `${textOf(names[at])} ${textOf(type)}`,
  );
  return [
    ...(input_types ? [`takes ${shortList(inputs)}`] : []),
    ...(return_types ? [`returns ${shortList(outputs)}`] : []),
  ];
}

/** `["IMAGE", {…}]`, or its choices. */
function typeOf(spec: unknown, isCut: boolean): string {
  const choices = choicesOf(spec);
  if (!choices) return textOf(Array.isArray(spec) ? spec[0] : spec);
  return choices.length === 0 ? 'one of a list' : `one of ${isCut ? 'at least ' : ''}${choices.length}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '?';
}

function shortList(items: readonly string[]): string {
  const more = items.length > maxShown ? `, and ${items.length - maxShown} more` : '';
  return items.length === 0 ? 'nothing' : `${items.slice(0, maxShown).join(', ')}${more}`;
}

function listIn(json: string | null | undefined): unknown[] {
  const value: unknown = parsed(json);
  return Array.isArray(value) ? value : [];
}

function parsed(json: string | null | undefined): Record<string, unknown> {
  try {
    return Object(JSON.parse(json ?? ''));
  } catch {
    return {};
  }
}

/** Most packs are read within two seconds; a publish is complete without it. */
const patienceMs = 5_000;
const pauseMs = 250;

/** The version once its host nodes have been read, or its state after a few seconds or a failed request. */
export async function waitForHostNodes(
  registry: RegistryClient,
  { node, version }: Project,
  published: NodeVersion,
): Promise<NodeVersion> {
  const signal = AbortSignal.timeout(patienceMs);
  let latest = published;
  try {
    while (latest.host_node_extract_status === 'pending') {
      await pause(pauseMs, undefined, { signal });
      const [entry] = await registry.versions.bulk([{ node_id: node, version }], { signal });
      latest = entry?.node_version ?? latest;
    }
  } catch {
    // The version is published, even if reading its host nodes fails.
  }
  return latest;
}

/** One line for a person; the registry gives no number, so this command counts the nodes that it reads. */
export function hostNodesLine(
  { node, version }: Project,
  { host_node_extract_status: status, host_node_extract_reason: reason }: NodeVersion,
  found: FoundHostNodes | undefined,
): string {
  if (status === 'failed') return `host nodes: failed: ${reason}`;
  if (status !== 'success')
    return `host nodes are being read; see: publish-node status --node ${node} --version ${version}`;
  if (found?.status !== 'success') return 'host nodes: success';
  return found.nodes.length === 1 ? '1 host node' : `${found.nodes.length} host nodes`;
}

/** The same for a program: the registry's own status, and the host nodes as this command reads them. */
export function readByRegistry(version: NodeVersion, found: FoundHostNodes | undefined) {
  // A list that could not be read here isn't the registry's.
  const isKnown = found?.status === 'success' || version.host_node_extract_status !== 'success';
  return {
    ...(found && isKnown && hostNodesResult(found)),
    host_node_extract_status: version.host_node_extract_status,
    host_node_extract_reason: version.host_node_extract_reason,
  };
}
