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

/** The host's view of a node; unknown fields are absent. */
export interface ReadHostNode {
  name: string;
  /** The title that the host shows. */
  displayName?: string;
  category?: string;
  description?: string;
  function?: string;
  deprecated?: boolean;
  experimental?: boolean;
  /** JSON texts, as the host returns them. */
  inputTypes?: string;
  returnTypes?: string;
  returnNames?: string;
  outputIsList?: boolean[];
  /** Whether the pack lists it only under a condition that is unknown here. */
  conditional?: boolean;
  /** The parts that only running the pack could show: the field, its part, and why. */
  open?: readonly string[];
}

/** A node as the host would list it. A field that needs a run of the pack is absent, and named in `open`. */
export interface ExtractedNode extends ReadHostNode {
  conditional: boolean;
  open: string[];
}

const maxOpen = 10;
const maxReason = 200;

type Fields = Omit<ExtractedNode, 'name' | 'conditional' | 'open'>;

/** Reads a node's class, with a step allowance of its own. A failed field is left open; the rest stays. */
export function describeNode(
  machine: Machine,
  name: string,
  cls: Value,
  conditional: boolean,
  title: Value = null,
): ExtractedNode {
  const node: ExtractedNode = { name, conditional, open: [] };
  const run: Run = (field, read) => {
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
    node.open.push(`${field}: ${why}`);
    return undefined;
  };
  const raw = isNewer(cls) ? newerForm(machine, cls, run) : olderForm(machine, cls, title);
  Object.assign(node, withoutOpen(describe(machine, raw, run, node.open)));
  if (!node.displayName) delete node.displayName;
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

type Explain = (why: string) => void;
type Run = <Field>(field: string, read: (explain: Explain) => Field | undefined) => Field | undefined;
type Open<Shape> = { [Key in keyof Shape]: Shape[Key] | undefined };

function withoutOpen(fields: Open<Fields>): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** A class's own fields, before it is known whether they can be stored. */
type Raw = Record<'function' | (typeof convertedFields)[number], (types?: Value) => Value>;

function olderForm(machine: Machine, cls: Value, title: Value): Raw {
  const read = (name: string, fallback: Value): Value => {
    if (mayBeNewer(cls)) return new Unknown('its base may have the newer form');
    const found = findAttribute(machine, cls, name);
    return found === undefined ? fallback : found;
  };
  return {
    displayName: () => title,
    category: () => read('CATEGORY', 'sd'),
    description: () => read('DESCRIPTION', ''),
    deprecated: () => read('DEPRECATED', false),
    experimental: () => read('EXPERIMENTAL', false),
    function: () => read('FUNCTION', new Unknown('it has none')),
    inputs: () => {
      const method = read('INPUT_TYPES', new Unknown('it has none'));
      return method instanceof Unknown ? method : machine.call(method);
    },
    returnTypes: () => read('RETURN_TYPES', new Tuple([])),
    returnNames: (types = null) => read('RETURN_NAMES', types),
    outputIsList: () => read('OUTPUT_IS_LIST', new Unknown('')),
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

function describe(machine: Machine, raw: Raw, run: Run, open: string[]): Open<Fields> {
  const types = run('return_types', (explain) => sequence(machine, raw.returnTypes(), explain));
  const inputs = run('input_types', () => raw.inputs());
  const ofTypes = <Field>(field: string, read: (types: Value, explain: Explain) => Field | undefined) =>
    types === undefined ? undefined : run(field, (explain) => read(types, explain));
  const typesText = (field: string, read: (types: Value) => Value) =>
    ofTypes(field, (known, explain) =>
      json(machine, read(known), explain, (part) => {
        if (open.length < 2 * maxOpen) open.push(`${field}: ${part}`);
      }),
    );
  return {
    displayName: run('display_name', () => asText(raw.displayName()) ?? ''),
    category: run('category', (explain) => text(raw.category(), explain)),
    description: run('description', (explain) => text(raw.description() ?? '', explain)),
    deprecated: run('deprecated', () => plainTruth(machine, plain(raw.deprecated()))),
    experimental: run('experimental', () => plainTruth(machine, plain(raw.experimental()))),
    function: run('function', (explain) => text(raw.function(), explain)),
    inputTypes:
      inputs === undefined
        ? undefined
        : run('input_types', (explain) => inputsText(machine, inputs, open, explain)),
    returnTypes: typesText('return_types', (known) => known),
    returnNames: typesText('return_names', (known) => raw.returnNames(known)),
    outputIsList: ofTypes('output_is_list', (known) => flags(machine, raw.outputIsList(), known)),
  };
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
