import type { FoundHostNodes } from './extraction.ts';

type FoundNode = FoundHostNodes['nodes'][number];

/** The host nodes that the registry will show, for a person. */
export function hostNodeLines({ status, reason, nodes }: FoundHostNodes): string[] {
  return [
    '',
    'The host nodes, read without running anything:',
    ...nodes.flatMap((node) => [line(node), ...node.open.map((open) => `    left open: ${open}`)]),
    status === 'success'
      ? `${nodes.length} in all.`
      : `They could not be read, or not all of them: ${reason}`,
  ];
}

function line({ name, category, function: entry, returnTypes }: FoundNode): string {
  return `  ${name}  (${category ?? '?'}: ${entry ?? '?'} returns ${returnTypes ?? '?'})`;
}

/** The same for a program, in the words of the registry. */
export function hostNodesResult({ status, reason, nodes }: FoundHostNodes): object {
  return {
    host_node_extract_status: status,
    ...(reason !== undefined && { host_node_extract_reason: reason }),
    host_nodes: nodes.map((node) => ({
      host_node_name: node.name,
      category: node.category,
      description: node.description,
      function: node.function,
      deprecated: node.deprecated,
      experimental: node.experimental,
      input_types: node.inputTypes,
      return_types: node.returnTypes,
      return_names: node.returnNames,
      output_is_list: node.outputIsList,
      left_open: node.open,
    })),
  };
}
