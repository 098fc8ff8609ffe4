import type { ExtractedNode } from '@node-registry/host-nodes';
import { type HostNode, maxLeftOpen } from './schemas/host-node.ts';
import { isSendable } from './names.ts';

/** The extracted fields of a host node. Null if a field is unknown. */
export type ExtractedFields = {
  [Field in keyof Omit<HostNode, 'policy' | 'host_node_name'>]-?: HostNode[Field] | null;
};

interface Entries {
  entries: Map<string, ExtractedFields>;
  /** Why entries are missing, if any are. */
  problem: string | undefined;
}

const maxNameCharacters = 200;
const maxReason = 300;
/**
 * The entries of a version: only values that endpoint 7 also accepts. The reader has left out fields that don't
 * fit; a name that the endpoint rejects makes the extraction incomplete.
 */
export function entriesOf(nodes: readonly ExtractedNode[]): Entries {
  const entries = new Map<string, ExtractedFields>();
  const problems: string[] = [];
  for (const node of nodes) {
    const problem = problemOf(node.name);
    if (problem === undefined) entries.set(node.name, fieldsOf(node));
    else problems.push(problem);
  }
  return { entries, problem: problems[0] };
}

function problemOf(name: string): string | undefined {
  if (name === '') return 'A host node has an empty name.';
  if (!name.isWellFormed()) return `The name "${name.toWellFormed()}" is not valid Unicode.`;
  if (!isSendable(name)) return `The name "${name}" can't be part of a URL.`;
  if ([...name].length > maxNameCharacters)
    return `The name "${[...name].slice(0, 40).join('')}…" has more than ${maxNameCharacters} characters.`;
  return undefined;
}

function fieldsOf({ open, ...node }: ExtractedNode): ExtractedFields {
  const said = open.slice(0, maxLeftOpen).map((text) => text.slice(0, maxReason).toWellFormed());
  return {
    function: node.function ?? null,
    category: node.category ?? null,
    return_types: node.return_types ?? null,
    return_names: node.return_names ?? null,
    display_name: node.display_name ?? null,
    output_is_list: node.output_is_list ?? null,
    input_types: node.input_types ?? null,
    description: node.description ?? null,
    deprecated: node.deprecated ?? null,
    experimental: node.experimental ?? null,
    conditional: node.conditional || null,
    left_open: said.length > 0 ? said : null,
  };
}

/** An input's choices: a list instead of its type, or the newer form's options. */
export function choicesOf(input: unknown): unknown[] | undefined {
  const [type, given] = Array.isArray(input) ? input : [];
  const options = Array.isArray(type) ? type : Object(given).options;
  return Array.isArray(options) ? options : undefined;
}

/** Whether an input's list of choices lacks some that the code does not show. */
export function hasMoreChoices(leftOpen: readonly string[], group: string, name: string): boolean {
  const start = `input_types: .${group}.${name}`;
  return leftOpen.some(
    (text) => text.startsWith(start) && /^(?:\[0\]|\[1\]\.options)\[\d/.test(text.slice(start.length)),
  );
}
