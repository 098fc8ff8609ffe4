import { hostFolder } from './files.ts';
import { hostExtras } from './host/names.ts';
import { nodeType } from './host/schema-types.ts';
import { olderForm, type OlderForm, schemaOf } from './host/schema.ts';
import { findAttribute } from './language/attributes.ts';
import { writeJson } from './library/json-text.ts';
import { limits, LimitReached } from './limits.ts';
import { asText, plain, plainTruth } from './values/access.ts';
import type { Entry } from './values/heap.ts';
import { Raised } from './values/exceptions.ts';
import type { Machine } from './values/machine.ts';
import { Dict, List } from './values/collections.ts';
import { BoundMethod, Class, Func } from './values/objects.ts';
import { isCounted, Tuple, Unknown } from './values/plain.ts';
import type { Value } from './values/values.ts';

/** What the host would show of a node; unknown fields are absent. */
export interface ReadHostNode {
  name: string;
  /** The title that the host shows. */
  displayName?: string;
  category?: string;
  description?: string;
  function?: string;
  deprecated?: boolean;
  experimental?: boolean;
  /** JSON texts, as the host answers them. */
  inputTypes?: string;
  returnTypes?: string;
  returnNames?: string;
  outputIsList?: boolean[];
  /** Whether the pack lists it only under a condition that is unknown here. */
  conditional?: boolean;
  /** What only running the pack could show: the field, its part, and why. */
  open?: readonly string[];
}

/** A node as the host would list it. A field that only running the pack could show is left out, and named in `open`. */
export interface ExtractedNode extends ReadHostNode {
  conditional: boolean;
  /** Names of the inputs by group, where those are known. */
  inputNames?: Record<string, string[]>;
  open: string[];
}

const maxOpen = 10;
const maxReason = 200;

type Fields = Omit<ExtractedNode, 'name' | 'conditional' | 'open'>;

/** Reads a node's class, with an allowance of steps of its own. What fails is open; the rest stays. */
export function describeNode(
  machine: Machine,
  name: string,
  cls: Value,
  conditional: boolean,
  title: Value = null,
): ExtractedNode {
  const node: ExtractedNode = { name, conditional, open: [] };
  const newer = isNewer(cls);
  const describe = newer ? describeNewer : describeOlder;
  const run: Run = (field, read) => {
    let why = 'it is not known';
    try {
      const value = machine.budget.allow(limits.nodeSteps, () => read((reason) => (why = reason)));
      if (value !== undefined) return value;
    } catch (error) {
      const isPart = error instanceof Raised || error instanceof LimitReached || error instanceof RangeError;
      if (!isPart) throw error;
      why = error instanceof Raised ? error.toString() : error.message;
    }
    node.open.push(`${field}: ${why}`);
    return undefined;
  };
  Object.assign(node, withoutOpen(describe(machine, cls, run, node.open)));
  const shown = newer ? node.displayName : asText(title);
  if (shown) node.displayName = shown;
  else delete node.displayName;
  return node;
}

/** A base outside of the pack is of the newer form if it needs `define_schema`. */
function isNewer(cls: Value): boolean {
  if (!(cls instanceof Class)) return false;
  if (cls.inherits(nodeType)) return true;
  return cls.outside !== undefined && cls.find('define_schema') !== undefined && !cls.find('INPUT_TYPES');
}

/** The host moves these nodes to the newer form, and then ignores what a derived class says in the older one. */
function mayBeNewer(cls: Value): boolean {
  return cls instanceof Class && cls.basesOutside().some((path) => path.startsWith(hostExtras));
}

/** Says why a value is open. */
type Explain = (why: string) => void;
type Run = <Field>(field: string, read: (explain: Explain) => Field | undefined) => Field | undefined;
type Open<Shape> = { [Key in keyof Shape]: Shape[Key] | undefined };

function withoutOpen(fields: Open<Fields>): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function describeOlder(machine: Machine, cls: Value, run: Run, open: string[]): Open<Fields> {
  const read = (name: string, fallback: Value): Value => {
    if (mayBeNewer(cls)) return new Unknown('its base may have the newer form');
    const found = findAttribute(machine, cls, name);
    return found === undefined ? fallback : found;
  };
  const types = run('return_types', (explain) =>
    sequence(machine, read('RETURN_TYPES', new Tuple([])), explain),
  );
  const inputs = run('input_types', (explain) => {
    const method = read('INPUT_TYPES', new Unknown('it has none'));
    if (method instanceof Unknown) explain(reason(method));
    return method instanceof Unknown ? undefined : machine.call(method);
  });
  return {
    ...shared(machine, run, {
      category: () => read('CATEGORY', 'sd'),
      description: () => read('DESCRIPTION', ''),
      deprecated: () => read('DEPRECATED', false),
      experimental: () => read('EXPERIMENTAL', false),
    }),
    displayName: undefined,
    function: run('function', (explain) => text(read('FUNCTION', new Unknown('it has none')), explain)),
    ...inputFields(machine, inputs, run, open),
    returnTypes:
      types === undefined ? undefined : run('return_types', (explain) => json(machine, types, explain)),
    returnNames:
      types === undefined
        ? undefined
        : run('return_names', (explain) => json(machine, read('RETURN_NAMES', types), explain)),
    outputIsList:
      types === undefined
        ? undefined
        : run('output_is_list', () => flags(machine, read('OUTPUT_IS_LIST', new Unknown('')), types)),
  };
}

function describeNewer(machine: Machine, cls: Value, run: Run, open: string[]): Open<Fields> {
  const form = run('schema', () => olderForm(machine, schemaOf(machine, cls)));
  const of = (field: keyof OlderForm): Value =>
    form?.[field] ?? (form ? null : new Unknown('an unknown schema'));
  const types = run('return_types', (explain) => sequence(machine, of('returnTypes'), explain));
  const inputs = run('input_types', () => of('inputs'));
  return {
    ...shared(machine, run, {
      category: () => of('category'),
      description: () => of('description') ?? '',
      deprecated: () => of('deprecated'),
      experimental: () => of('experimental'),
    }),
    displayName: run('display_name', () => asText(of('displayName')) ?? ''),
    function: run('function', () => entryPoint(machine, cls)),
    ...inputFields(machine, inputs, run, open),
    returnTypes:
      types === undefined ? undefined : run('return_types', (explain) => json(machine, types, explain)),
    returnNames: run('return_names', (explain) => json(machine, of('returnNames'), explain)),
    outputIsList:
      types === undefined
        ? undefined
        : run('output_is_list', () => flags(machine, of('outputIsList'), types)),
  };
}

function shared(
  machine: Machine,
  run: Run,
  read: Record<'category' | 'description' | 'deprecated' | 'experimental', () => Value>,
): Open<Pick<Fields, 'category' | 'description' | 'deprecated' | 'experimental'>> {
  return {
    category: run('category', (explain) => text(read.category(), explain)),
    description: run('description', (explain) => text(read.description() ?? '', explain)),
    deprecated: run('deprecated', () => plainTruth(machine, plain(read.deprecated()))),
    experimental: run('experimental', () => plainTruth(machine, plain(read.experimental()))),
  };
}

function json(machine: Machine, value: Value, explain: Explain): string | undefined {
  const text = writeJson(machine, value, (path, why) => {
    explain(`${path} ${why}`.trim());
    return undefined;
  });
  if (!text?.includes(hostFolder)) return text;
  explain('it has a path of the host');
  return undefined;
}

/**
 * Inputs with what is known of them: null stands for a value that is not, which readers take for a missing default,
 * and nothing for a choice among others or for an input that may not be there.
 */
function inputsText(machine: Machine, inputs: Value, open: string[], explain: Explain): string | undefined {
  const isDict = plain(inputs) instanceof Dict;
  let count = 0;
  const leave = (path: string, why: string) => {
    explain(why);
    if (path === '' && !isDict) return undefined;
    count += 1;
    if (count <= maxOpen) open.push(`input_types: ${path} ${why}`.slice(0, maxReason));
    return /\]\[\d+\]$/.test(path) ? '' : 'null';
  };
  const text = writeJson(machine, inputs, leave, '', hostFolder);
  if (count > maxOpen) open.push(`input_types: ${count - maxOpen} more values`);
  return text;
}

function reason({ why, path }: Unknown): string {
  return path === '' ? why : `${why} (${path})`;
}

function text(value: Value, explain: Explain): string | undefined {
  const known = plain(value);
  if (known instanceof Unknown) explain(reason(known));
  return asText(known);
}

function inputFields(
  machine: Machine,
  inputs: Value | undefined,
  run: Run,
  open: string[],
): Open<Pick<Fields, 'inputTypes' | 'inputNames'>> {
  if (inputs === undefined) return { inputTypes: undefined, inputNames: undefined };
  return {
    inputTypes: run('input_types', (explain) => {
      return inputsText(machine, inputs, open, explain);
    }),
    inputNames: run('input_names', () => inputNames(machine, inputs) ?? null) ?? undefined,
  };
}

function inputNames(machine: Machine, inputs: Value): Record<string, string[]> | undefined {
  const groups = sureEntries(machine, inputs);
  if (!groups) return undefined;
  const names: Record<string, string[]> = Object.create(null);
  for (const { key, value } of groups) {
    const group = sureEntries(machine, value);
    if (!group) return undefined;
    names[String(key)] = group.map((entry) => String(plain(entry.key)));
  }
  return names;
}

/** The entries of a dict that is known to have these and no others. */
function sureEntries(machine: Machine, value: Value): Entry[] | undefined {
  const dict = plain(value);
  if (!(dict instanceof Dict) || dict.open !== undefined) return undefined;
  machine.budget.spend(dict.entries.size);
  const entries = [...dict.entries.values()];
  return entries.some(({ conditional }) => conditional) ? undefined : entries;
}

/** Return types are a list or tuple; a text would be one of its characters. */
function sequence(machine: Machine, value: Value, explain: Explain): Value | undefined {
  const known = plain(value);
  if (known instanceof Unknown) explain(reason(known));
  if (known instanceof List || known instanceof Tuple) return known;
  if (typeof known === 'string') return new List([...machine.iterate(known)]);
  return undefined;
}

function flags(machine: Machine, value: Value, types: Value): boolean[] | undefined {
  const known = plain(value);
  if (known instanceof Unknown)
    return known.why === '' && isCounted(machine, [...machine.iterate(types)])
      ? [...machine.iterate(types)].map(() => false)
      : undefined;
  if (!(known instanceof List || known instanceof Tuple)) return undefined;
  machine.budget.spend(known.items.length);
  const list = known.items.map((item) => plainTruth(machine, item));
  return list.every((item) => item !== undefined) ? list : undefined;
}

function entryPoint(machine: Machine, cls: Value): string | undefined {
  const own = cls instanceof Class ? cls.find('FUNCTION') : undefined;
  if (own !== undefined) return asText(own);
  const method = findAttribute(machine, cls, 'execute');
  const func = method instanceof BoundMethod ? method.func : method;
  const isAsync = func instanceof Func && func.code.isAsync;
  return isAsync ? 'EXECUTE_NORMALIZED_ASYNC' : 'EXECUTE_NORMALIZED';
}
