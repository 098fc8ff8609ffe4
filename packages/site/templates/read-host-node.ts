import { choicesOf, hasMoreChoices } from '@node-registry/registry-rules/host-node-entries';
import type { HostNode } from '@node-registry/registry-rules/schemas/host-node';

/** A value of a host node. */
export interface Value {
  name: string;
  type: string;
  isOptional?: boolean;
  isList?: boolean;
  /** The initial value of a widget. Without it, the value comes from or goes to another host node. */
  preset?: string;
  /** The number of choices, and whether there are more. */
  choices?: number;
  hasMore?: boolean;
}

/** Types that the host asks a person for, unless the input says otherwise. */
const widgetTypes = new Set(['INT', 'FLOAT', 'STRING', 'BOOLEAN', 'COMBO', 'COLOR']);

/**
 * Sorts a host node's inputs as the host does: a list of choices or a simple type is a widget, every other
 * type a socket. An extraction or an owner wrote the fields, so they may contain anything.
 */
export function readHostNode(described: HostNode) {
  const declared = parsed(described.input_types);
  const groups = recordOf(declared);
  const read = ['required', 'optional'].flatMap((group) =>
    Object.entries(recordOf(groups[group])).map(([name, input]) => ({
      ...readInput(input),
      name,
      isOptional: group === 'optional',
      ...(hasMoreChoices(described.left_open ?? [], group, name) && { hasMore: true }),
    })),
  );
  const names = listOf(described.return_names);
  const outputs = listOf(described.return_types).map((type, place) => ({
    name: names[place] || type,
    type,
    isList: described.output_is_list?.[place] ?? false,
  }));
  return {
    inputs: read.filter(({ preset }) => preset === undefined),
    widgets: read.filter(({ preset }) => preset !== undefined),
    outputs,
    /** Whether the inputs are known. */
    isComplete: declared !== undefined,
  };
}

function readInput(input: unknown): Omit<Value, 'name'> {
  const [declared, given] = Array.isArray(input) ? input : [input];
  const options = recordOf(given);
  const choices = choicesOf(input) ?? [];
  const type = Array.isArray(declared) ? 'COMBO' : declared === null ? '?' : shown(declared);
  if (!widgetTypes.has(type) || options.forceInput === true) return { type };
  const preset = shown(options.default ?? choices[0]);
  return { type, preset, ...(type === 'COMBO' && { choices: choices.length }) };
}

/** A JSON list, or names separated by commas. */
function listOf(text: string | undefined): string[] {
  if (!text) return [];
  const list = parsed(text);
  if (Array.isArray(list)) return list.map((type) => (Array.isArray(type) ? 'COMBO' : shown(type)));
  return text.split(',').map((type) => type.trim());
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    // JSON may nest deeper than it can be written again.
    return '…';
  }
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
