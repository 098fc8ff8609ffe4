import type { ExtractedFields } from '@node-registry/registry-rules/host-node-entries';
import type { FoundHostNode, FoundHostNodes } from './extraction.ts';
import { signatureOf } from './signature.ts';

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
