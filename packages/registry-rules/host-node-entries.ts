import type { ReadHostNode } from 'host-nodes';
import type { HostNode } from './schemas/host-node.ts';
import { isSendable } from './names.ts';
import { maxRecordItems } from './schemas/fields.ts';

/** The extracted fields of a host node. Null if a field is unknown. */
export type ExtractedFields = {
  [Field in keyof Omit<HostNode, 'policy' | 'host_node_name'>]-?: HostNode[Field] | null;
};

interface Entries {
  entries: Map<string, ExtractedFields>;
  /** Why an entry is missing, as far as one is. */
  problem: string | undefined;
}

const maxNameCharacters = 200;
/** Leaves room in a DynamoDB item for the fields that an owner may write. */
const maxEntryBytes = 80_000;
/** Six times the size of the largest known pack. Without a limit, an author decides what a version costs the table. */
const maxVersionBytes = 2_000_000;

/**
 * The entries that a version gets: only what endpoint 7 also accepts. A field that it rejects, or that does not fit, is
 * stored as unknown; a name that it rejects makes the extraction incomplete.
 */
export function entriesOf(nodes: readonly ReadHostNode[]): Entries {
  let left = maxVersionBytes;
  const entries = new Map<string, ExtractedFields>();
  const problems: string[] = [];
  for (const node of nodes) {
    const problem = problemOf(node.name);
    if (problem !== undefined) {
      problems.push(problem);
      continue;
    }
    const { fields, bytes } = fieldsOf(node, Math.min(maxEntryBytes, left));
    left -= bytes;
    entries.set(node.name, fields);
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

function fieldsOf(node: ReadHostNode, maxBytes: number): { fields: ExtractedFields; bytes: number } {
  let bytes = 0;
  const stored = <Value>(value: Value | undefined, text: string | undefined): Value | null => {
    if (value === undefined || text === undefined || !text.isWellFormed()) return null;
    const size = Buffer.byteLength(text);
    if (bytes + size > maxBytes) return null;
    bytes += size;
    return value;
  };
  const storedText = (text: string | undefined) => stored(text, text);
  const flags = node.outputIsList;
  const fields = {
    function: storedText(node.function),
    category: storedText(node.category),
    return_types: storedText(node.returnTypes),
    return_names: storedText(node.returnNames),
    display_name: storedText(node.displayName),
    output_is_list: flags && flags.length <= maxRecordItems ? stored(flags, JSON.stringify(flags)) : null,
    input_types: storedText(node.inputTypes),
    description: storedText(node.description),
    deprecated: node.deprecated ?? null,
    experimental: node.experimental ?? null,
  };
  return { fields, bytes };
}
