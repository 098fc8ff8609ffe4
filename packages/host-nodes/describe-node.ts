import { hostFolder } from './files.ts';
import { hostExtras } from './host/names.ts';
import { nodeType } from './host/schema-types.ts';
import { convert, convertedFields, schemaOf } from './host/schema.ts';
import { findAttribute } from './language/attributes.ts';
import { writeJson } from './library/json-text.ts';
import { LimitReached, limits } from './limits.ts';
import { asText, plain, plainTruth } from './values/access.ts';
import { BoundMethod, Class, Func } from './values/objects.ts';
import { isCounted, Tuple, Unknown } from './values/plain.ts';
import { Dict, List, type Machine, type Value } from './values/values.ts';
import { Raised } from './values/builtin-types.ts';

/** A node as the host would list it. A field that needs a run of the pack is absent, and named in `open`. */
export interface ExtractedNode {
  name: string;
  /** Whether the pack lists it only under a condition that is unknown here. */
  conditional: boolean;
  /** The parts that only running the pack could show: the field, its part, and why. */
  open: string[];
  /** The title that the host shows. */
  display_name?: string;
  category?: string;
  description?: string;
  deprecated?: boolean;
  experimental?: boolean;
  function?: string;
  /** JSON texts, as the host returns them. */
  input_types?: string;
  return_types?: string;
  return_names?: string;
  output_is_list?: boolean[];
}

const maxOpen = 10;
const maxReason = 200;

type Fields = Omit<ExtractedNode, 'name' | 'conditional' | 'open'>;
type Explain = (why: string) => void;
type Run = <Part>(part: string, read: (explain: Explain) => Part | undefined) => Part | undefined;

/** Reads a node's class, with a step allowance of its own. A failed field is left open; the rest stays. */
export function describeNode(
  machine: Machine,
  name: string,
  cls: Value,
  conditional: boolean,
  title: Value = null,
): ExtractedNode {
  const node: ExtractedNode = { name, conditional, open: [] };
  const run: Run = (part, read) => {
    let why = 'it is not known';
    try {
      const value = machine.budget.allow(limits.nodeSteps, () => read((reason) => (why = reason)));
      if (value !== undefined) return value;
    } catch (error) {
      const isPart = error instanceof Raised || error instanceof LimitReached || error instanceof RangeError;
      if (!isPart) throw error;
      const said = error instanceof Raised ? error.toString() : error.message;
      why = error instanceof RangeError ? 'it nests too deeply' : said;
    }
    node.open.push(`${part}: ${why}`);
    return undefined;
  };
  const raw = isNewer(cls) ? newerForm(machine, cls, run) : olderForm(machine, cls, title);
  describe(machine, raw, run, node);
  if (!node.display_name) delete node.display_name;
  return node;
}

/** A base outside of the pack has the newer form if it needs `define_schema`. */
function isNewer(cls: Value): boolean {
  if (!(cls instanceof Class)) return false;
  if (cls.inherits(nodeType)) return true;
  return cls.outside !== undefined && cls.find('define_schema') !== undefined && !cls.find('INPUT_TYPES');
}

/** The host moves these nodes to the newer form, and then ignores a derived class's older form. */
function mayBeNewer(cls: Value): boolean {
  return cls instanceof Class && cls.basesOutside().some((path) => path.startsWith(hostExtras));
}

/** A class's own fields, before it is known whether they can be stored. */
type Raw = Record<keyof Fields, (types?: Value) => Value>;

function olderForm(machine: Machine, cls: Value, title: Value): Raw {
  const read = (name: string, fallback: Value): Value => {
    if (mayBeNewer(cls)) return new Unknown('its base may have the newer form');
    const found = findAttribute(machine, cls, name);
    return found === undefined ? fallback : found;
  };
  return {
    display_name: () => title,
    category: () => read('CATEGORY', 'sd'),
    description: () => read('DESCRIPTION', ''),
    deprecated: () => read('DEPRECATED', false),
    experimental: () => read('EXPERIMENTAL', false),
    function: () => read('FUNCTION', new Unknown('it has none')),
    input_types: () => {
      const method = read('INPUT_TYPES', new Unknown('it has none'));
      return method instanceof Unknown ? method : machine.call(method);
    },
    return_types: () => read('RETURN_TYPES', new Tuple([])),
    return_names: (types = null) => read('RETURN_NAMES', types),
    output_is_list: () => read('OUTPUT_IS_LIST', new Unknown('')),
  };
}

function newerForm(machine: Machine, cls: Value, run: Run): Raw {
  const form = run('schema', () => convert(machine, schemaOf(machine, cls)));
  const read = convertedFields.map((field) => [
    field,
    () => (form ? form[field] : new Unknown('an unknown schema')),
  ]);
  return {
    ...(Object.fromEntries(read) as Raw),
    function: () => entryPoint(machine, cls) ?? new Unknown('it is not known'),
  };
}

function describe(machine: Machine, raw: Raw, run: Run, node: ExtractedNode): void {
  const { open } = node;
  const types = run('return_types', (explain) => sequence(machine, raw.return_types(), explain));
  const inputs = run('input_types', () => raw.input_types());
  const set = <Name extends keyof Fields>(field: Name, read: (explain: Explain) => Fields[Name]) => {
    const value = run(field, read);
    if (value !== undefined) node[field] = value;
  };
  const setTypes = (field: 'return_types' | 'return_names', value: (types: Value) => Value, known: Value) =>
    set(field, (explain) =>
      json(machine, value(known), explain, (part) => {
        if (open.length < 2 * maxOpen) open.push(`${field}: ${part}`);
      }),
    );
  set('display_name', () => asText(raw.display_name()) ?? '');
  set('category', (explain) => text(raw.category(), explain));
  set('description', (explain) => text(raw.description() ?? '', explain));
  set('deprecated', () => plainTruth(machine, plain(raw.deprecated())));
  set('experimental', () => plainTruth(machine, plain(raw.experimental())));
  set('function', (explain) => text(raw.function(), explain));
  if (inputs !== undefined) set('input_types', (explain) => inputsText(machine, inputs, open, explain));
  if (types === undefined) return;
  setTypes('return_types', (known) => known, types);
  setTypes('return_names', (known) => raw.return_names(known), types);
  set('output_is_list', () => flags(machine, raw.output_is_list(), types));
}

/** A return type may be a list of choices, which are left out if they are unknown. */
function json(machine: Machine, value: Value, explain: Explain, leave: Explain): string | undefined {
  const text = writeJson(machine, value, (path, why) => {
    const isChoice = choice.test(path);
    (isChoice ? leave : explain)(`${path} ${why}`.trim().slice(0, maxReason));
    return isChoice ? '' : undefined;
  });
  if (!text?.includes(hostFolder)) return text;
  explain('it has a path of the host');
  return undefined;
}

/** Where choices stand: in a list instead of a type, or in the newer form's options. */
const choice = /(?:\]|\.options)\[\d*\]$/;

/**
 * The inputs' known parts. null stands for an unknown value, which readers take for a missing default. An
 * unknown choice, and an input that may be absent, are left out.
 */
function inputsText(machine: Machine, inputs: Value, open: string[], explain: Explain): string | undefined {
  const isDict = plain(inputs) instanceof Dict;
  let count = 0;
  const leave = (path: string, why: string) => {
    explain(why);
    if (path === '' && !isDict) return undefined;
    count += 1;
    if (count <= maxOpen) open.push(`input_types: ${path} ${why}`.slice(0, maxReason));
    return choice.test(path) ? '' : 'null';
  };
  const text = writeJson(machine, inputs, leave, hostFolder);
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

/** Return types are a list or tuple; a string would be one of its characters. */
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
