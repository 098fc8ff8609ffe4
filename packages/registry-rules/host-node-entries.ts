import type { ReadHostNode } from '@node-registry/host-nodes';
import { type HostNode, maxLeftOpen } from './schemas/host-node.ts';
import { isSendable } from './names.ts';
import { maxRecordItems } from './schemas/fields.ts';

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
/** Leaves room in a DynamoDB item for the fields that an owner may write. */
const maxEntryBytes = 80_000;
/** Six times the largest known pack. Without a limit, an author decides what a version costs the table. */
const maxVersionBytes = 2_000_000;

/**
 * The entries of a version: only values that endpoint 7 also accepts. A field that it rejects, or that
 * doesn't fit, is stored as unknown; a name that it rejects makes the extraction incomplete.
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
  const open = [...(node.open ?? [])];
  const stored = <Value>(name: string, value: Value | undefined, text: string | undefined): Value | null => {
    if (value === undefined || text === undefined) return null;
    const size = Buffer.byteLength(text);
    if (!text.isWellFormed() || bytes + size > maxBytes) {
      open.push(`${name}: the registry does not store it, since it is too long or not valid Unicode`);
      return null;
    }
    bytes += size;
    return value;
  };
  const storedText = (name: string, text: string | undefined) => stored(name, text, text);
  const flags = node.outputIsList;
  const isStored = flags && flags.length <= maxRecordItems;
  const fields = {
    function: storedText('function', node.function),
    category: storedText('category', node.category),
    return_types: storedText('return_types', node.returnTypes),
    return_names: storedText('return_names', node.returnNames),
    display_name: storedText('display_name', node.displayName),
    output_is_list: isStored ? stored('output_is_list', flags, JSON.stringify(flags)) : null,
    input_types: storedText('input_types', node.inputTypes),
    description: storedText('description', node.description),
    deprecated: node.deprecated ?? null,
    experimental: node.experimental ?? null,
    conditional: node.conditional || null,
  };
  const said = open.slice(0, maxLeftOpen).map((text) => text.slice(0, maxReason).toWellFormed());
  return { fields: { ...fields, left_open: said.length > 0 ? said : null }, bytes };
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
