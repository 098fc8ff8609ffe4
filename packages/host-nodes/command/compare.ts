import type { ExtractedNode } from '../describe-node.ts';
import type { Extraction } from '../extract-host-nodes.ts';

interface ExpectedNode {
  function: string;
  category: string;
  return_types: unknown;
  return_names: unknown;
  output_is_list: boolean[];
  inputs: Record<string, string[]>;
}

/** What importing a pack says. */
export interface ExpectedPack {
  repository: string;
  commit: string;
  nodes: Record<string, ExpectedNode>;
}

export interface Comparison {
  nodes: number;
  names: number;
  missing: string[];
  extra: string[];
  wrong: string[];
  /** Values that were left open, each with the reason. */
  open: string[];
  /** How many values of each field are right, of how many. */
  right: Record<string, [right: number, of: number]>;
  complete: number;
}

const fields: Record<string, (node: ExtractedNode) => unknown> = {
  function: (node) => node.function,
  category: (node) => node.category,
  return_types: ({ returnTypes }) => parsed(returnTypes),
  return_names: ({ returnNames }) => parsed(returnNames),
  output_is_list: (node) => node.outputIsList,
  inputs: (node) => ordered(node.inputNames),
};

function parsed(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}

/** The host's answers list groups of inputs without empty ones. */
function ordered(groups: Record<string, string[]> | undefined): unknown {
  if (groups === undefined) return undefined;
  const entries = Object.entries(groups).filter(
    ([name, list]) => list.length > 0 && ['required', 'optional'].includes(name),
  );
  return Object.fromEntries(
    entries.sort(([a], [b]) => a.localeCompare(b)).map(([name, list]) => [name, [...list].sort()]),
  );
}

export function comparePack({ nodes }: Extraction, expected: ExpectedPack | undefined): Comparison {
  const truth = new Map(Object.entries(expected?.nodes ?? {}));
  const found = new Map(nodes.map((node) => [node.name, node]));
  const comparison: Comparison = {
    nodes: nodes.length,
    names: truth.size,
    missing: [...truth.keys()].filter((name) => !found.has(name)),
    extra: expected ? [...found.keys()].filter((name) => !truth.has(name)) : [],
    wrong: [],
    open: [],
    right: {},
    complete: nodes.filter(({ inputTypes }) => inputTypes !== undefined).length,
  };
  for (const [name, wanted] of truth) {
    const node = found.get(name);
    if (node) compareNode(comparison, node, wanted);
  }
  return comparison;
}

function compareNode(comparison: Comparison, node: ExtractedNode, wanted: ExpectedNode): void {
  for (const [field, read] of Object.entries(fields)) {
    const value = wanted[field as keyof ExpectedNode];
    if (value === undefined || isError(value)) continue;
    const right = plainText(field === 'inputs' ? ordered(value as Record<string, string[]>) : value);
    const got = plainText(read(node));
    const [count, of] = comparison.right[field] ?? [0, 0];
    comparison.right[field] = [count + (got === right ? 1 : 0), of + 1];
    if (got === undefined)
      comparison.open.push(`${node.name}.${field}: ${node.open.join('; ').slice(0, 300)}`);
    else if (got !== right)
      comparison.wrong.push(`${node.name}.${field}: ${got.slice(0, 150)} instead of ${right?.slice(0, 150)}`);
  }
}

/** What the host itself could not list. */
function isError(value: unknown): boolean {
  return typeof value === 'object' && value !== null && '$error' in value;
}

/** Lists of the host's files are empty here, its lists of names are its own, and choices have any order. */
function plainText(value: unknown): string | undefined {
  return JSON.stringify(value, (key, part) => {
    if (key === '' || !Array.isArray(part)) return part;
    if (part.length === 1 && typeof part[0] === 'string' && part[0].startsWith('<files:')) return [];
    return part[0] === 'euler' || part[0] === '<host:samplers>'
      ? ['samplers']
      : part[0] === 'simple' || part[0] === '<host:schedulers>'
        ? ['schedulers']
        : part.toSorted();
  });
}

/** The figures over all packs; those of a comparison only where something was compared. */
export function totals(results: readonly (Comparison & { seconds: number })[]): string {
  const sum = (count: (result: Comparison) => number) =>
    results.reduce((total, result) => total + count(result), 0);
  const names = sum((result) => result.names);
  const found = names - sum(({ missing }) => missing.length);
  const extra = sum((result) => result.extra.length);
  const seconds = results.map((result) => result.seconds).sort((a, b) => a - b);
  const lines = [
    `${results.length} packs, ${sum(({ nodes }) => nodes)} nodes, input types complete for ${sum(({ complete }) => complete)}`,
    ...(names > 0
      ? [
          `names ${found} of ${names}, ${extra} extra; ${sum(({ wrong }) => wrong.length)} values wrong, ${sum(({ open }) => open.length)} open`,
        ]
      : []),
    `CPU median ${seconds[seconds.length >> 1]?.toFixed(2)} s, worst ${seconds.at(-1)?.toFixed(2)} s`,
  ];
  for (const field of Object.keys(fields)) {
    const right = sum((result) => result.right[field]?.[0] ?? 0);
    const of = sum((result) => result.right[field]?.[1] ?? 0);
    if (of > 0) lines.push(`${field} ${right} of ${of} (${((100 * right) / of).toFixed(2)} %)`);
  }
  return lines.join('\n');
}
