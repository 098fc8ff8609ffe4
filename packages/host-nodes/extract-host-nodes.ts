import { describeNode, type ExtractedNode } from './describe-node.ts';
import type { Files } from './files.ts';
import { entryPoint } from './host/names.ts';
import { schemaOf } from './host/schema.ts';
import { findAttribute } from './language/attributes.ts';
import { Interpreter } from './interpreter.ts';
import { Budget, LimitReached, limits } from './limits.ts';
import { asText, plain } from './values/access.ts';
import { Raised } from './values/builtin-types.ts';
import { Several, Unknown } from './values/plain.ts';
import { Dict, type Module, type Value } from './values/values.ts';

export type { ExtractedNode } from './describe-node.ts';

/*
 * Finds the host nodes of a pack from its files, without running it.
 *
 * A pack is a Python package. Each host node is a class that it lists, by name, in a dict called
 * NODE_CLASS_MAPPINGS or through an entry point. Loading the pack would run a stranger's code; reading names
 * with patterns misses every pack that computes them. So this is a small interpreter of the declarative part
 * of Python: it follows imports, loops, decorators and classes, and if a value depends on the world outside,
 * it is *unknown* instead of guessed. Nothing here reads a file, a clock, the network or the environment.
 *
 * values/ has Python's values, including `Unknown`, how they compare and print, and both ways of an unknown
 * condition; types/ the built-in types; language/ statements and expressions; library/ the parts of Python's
 * library that packs use; host/ models of the host application; modules.ts the pack's own modules;
 * describe-node.ts reads one class.
 *
 * It leaves open anything from an outside package (which may do anything, including to a list or dict passed
 * to it), from the environment, a clock or chance, from `exec` and `eval`, and from classes of the
 * host (a table of them would age). It follows an unknown condition both ways, up to the end of each (a
 * `continue`, `break` or `return` leaves the rest to the other way), and joins the results: equal values
 * stay, dicts know which keys are there only under a condition, lists which items (`Several`). It drops a way
 * that raises, and reports it if nodes are missing. `open` names the open fields, or parts of the inputs,
 * where null stands for them. An open list of nodes makes the extraction `failed`, because its names would be
 * incomplete.
 *
 * limits.ts bounds it: every statement, expression and item takes a step, building text and copying take
 * steps by size, a pack's regular expressions never run natively, names chosen by a pack are keys of Maps
 * only. extract-in-worker.ts adds a heap, a stack and a clock. The parser is py-ast, pinned; source.ts lists
 * its differences from CPython's.
 */

export interface Extraction {
  status: 'success' | 'failed';
  /** Why it failed, as a sentence for the pack's author. */
  reason?: string;
  nodes: ExtractedNode[];
  /** Calls in its code that an administrator may want to review. */
  risks: string[];
  /** Statements that were skipped. */
  notes: string[];
  steps: number;
}

export interface ExtractionOptions {
  /** The name of the pack's folder. */
  name?: string;
  steps?: number;
}

/** It may contain the pack's own words. */
function printable(reason: string): string {
  return [...reason.toWellFormed().replace(/\p{C}/gu, '')].slice(0, limits.reasonCharacters).join('');
}

export function extractHostNodes(files: Files, options: ExtractionOptions = {}): Extraction {
  const budget = new Budget(options.steps);
  const machine = new Interpreter(files, options.name ?? 'pack', budget);
  const end = (nodes: ExtractedNode[], reason?: string): Extraction => {
    machine.risks.readRest(machine.files.code());
    return {
      status: reason === undefined ? 'success' : 'failed',
      ...(reason === undefined ? {} : { reason: printable(reason) }),
      nodes,
      risks: machine.risks.found,
      notes: machine.notes,
      steps: budget.used,
    };
  };
  try {
    const listed = listNodes(machine);
    const nodes = describeAll(machine, listed.entries);
    return end(nodes, listed.reason ?? missing(machine, listed) ?? machine.modules.broken);
  } catch (error) {
    return end([], located(machine, failure(error), error));
  }
}

/** Returns only failures that the pack can cause; any other error is our own fault and is thrown again. */
function failure(error: unknown): string {
  if (error instanceof LimitReached) return `It was given up: ${error.message}`;
  if (error instanceof RangeError) return 'It was given up: its code nests too deeply';
  if (error instanceof Raised) return `It cannot be imported. ${error.toString()}`;
  throw error;
}

/** The sentence, with the file and line of its subject if they are known. */
function located({ places }: Interpreter, text: string, about: unknown): string {
  const place = places.get(about);
  return place === undefined ? `${text}.` : `${text} (${place}).`;
}

interface Listed {
  entries: { name: string; cls: Value; conditional: boolean; title?: Value }[];
  reason?: string;
}

function listNodes(machine: Interpreter): Listed {
  const root = machine.files.isFile('__init__.py') ? machine.modules.importOwn('') : undefined;
  if (!root) return { entries: [], reason: `It has no __init__.py at its root.${packInside(machine)}` };
  const mappings = plain(findAttribute(machine, root, 'NODE_CLASS_MAPPINGS') ?? null);
  const titles = plain(findAttribute(machine, root, 'NODE_DISPLAY_NAME_MAPPINGS') ?? null);
  if (mappings !== null) return fromMappings(machine, mappings, titles);
  if (root.own(entryPoint) !== undefined) return fromEntryPoint(machine, root);
  if (root.open === undefined && hasWebFiles(machine)) return { entries: [] };
  const why =
    root.open === undefined
      ? (failing(machine) ?? '')
      : ` ${root.open.charAt(0).toUpperCase()}${root.open.slice(1)}.`;
  return {
    entries: [],
    reason: `Its __init__.py has neither NODE_CLASS_MAPPINGS nor ${entryPoint}.${why}`,
  };
}

/** Nodes that only failing code lists: nodes that were listed and then lost, or all of them. */
function missing(machine: Interpreter, { entries }: Listed): string | undefined {
  const names = new Set(entries.map(({ name }) => name));
  const lost = machine.dropped.flatMap(({ keys }) => keys.filter((key) => !names.has(key)));
  if (names.size > 0 && lost.length === 0) return undefined;
  const why = failing(machine, names.size > 0 || hasWebFiles(machine));
  if (names.size > 0)
    return `It may list more nodes: ${new Set(lost).size} of its names are lost.${why ?? ''}`;
  const [skipped] = hasWebFiles(machine) ? [] : machine.notes;
  if (why === undefined && skipped === undefined) return undefined;
  return `It lists no nodes.${why ?? ` ${skipped}.`}`;
}

/** A pack may only have files for the host's pages. */
function hasWebFiles(machine: Interpreter): boolean {
  return machine.modules.importOwn('')?.own('WEB_DIRECTORY') !== undefined;
}

/** The failed way that was about the list of nodes, or else the first one. */
function failing({ dropped }: Interpreter, isSure = false): string | undefined {
  const about = dropped.find(({ isBlamed, keys }) => isBlamed || keys.length > 0);
  const found = about ?? (isSure ? undefined : dropped[0]);
  return found && ` Under a condition that is not known, its code fails: ${found.why} (${found.place}).`;
}

/** The folder that the author probably meant: the first that lists nodes. */
function packInside({ files }: Interpreter): string {
  for (const [file, text] of files.code()) {
    if (file.endsWith('/__init__.py') && text.includes('NODE_CLASS_MAPPINGS'))
      return ` Publish the folder ${file.slice(0, -12)}, which has one.`;
  }
  return '';
}

function fromMappings(machine: Interpreter, mappings: Value, titles: Value): Listed {
  if (!(mappings instanceof Dict)) {
    const { path, why } = mappings instanceof Unknown ? mappings : { path: '', why: 'it is not a dict' };
    const from = path === '' ? `cannot be followed: ${why}` : `come from ${path}`;
    return { entries: [], reason: located(machine, `Its NODE_CLASS_MAPPINGS ${from}`, mappings) };
  }
  const entries: Listed['entries'] = [];
  for (const { key, value, conditional } of mappings.entries.values()) {
    const name = asText(key);
    const title =
      titles instanceof Dict && name !== undefined ? (titles.entries.get(name)?.value ?? null) : null;
    if (name !== undefined) entries.push({ name, cls: value, conditional, title });
  }
  return { entries, ...mayListMore(machine, mappings.open, mappings) };
}

function mayListMore(machine: Interpreter, why: string | undefined, about: Value): Pick<Listed, 'reason'> {
  return why === undefined ? {} : { reason: located(machine, `It may list more nodes: ${why}`, about) };
}

/** The newer form: the entry point returns an extension, whose `get_node_list()` returns the classes. */
function fromEntryPoint(machine: Interpreter, root: Module): Listed {
  const extension = machine.call(root.own(entryPoint) ?? null);
  const list = machine.call(machine.attribute(extension, 'get_node_list'));
  if (list instanceof Unknown)
    return { entries: [], reason: `Its ${entryPoint} cannot be followed: ${list.why}.` };
  const entries = new Map<string, Listed['entries'][number]>();
  let open: string | undefined;
  let unread = 0;
  for (const item of machine.iterate(list)) {
    const conditional = item instanceof Several;
    for (const cls of conditional ? item.items : [item]) {
      const { id, title, why } = identify(machine, cls);
      if (id === undefined) {
        unread += 1;
        open = why;
      } else {
        const isSure = !conditional || entries.get(id)?.conditional === false;
        entries.set(id, { name: id, cls, conditional: !isSure, title: title ?? null });
      }
    }
  }
  const why = open === undefined ? undefined : `${unread} of its classes cannot be read: ${open}`;
  return { entries: [...entries.values()], ...mayListMore(machine, why, list) };
}

/** The id and title that the host reads from each class. A failing class loses only its own node. */
function identify(machine: Interpreter, cls: Value): { id?: string | undefined; title?: Value; why: string } {
  try {
    const schema = cls instanceof Unknown ? cls : schemaOf(machine, cls);
    if (schema instanceof Unknown) return { why: schema.why };
    const [id, title] = ['node_id', 'display_name'].map((name) => findAttribute(machine, schema, name));
    return { id: asText(id), title: title ?? null, why: 'its name is not known' };
  } catch (error) {
    if (error instanceof Raised) return { why: error.toString() };
    throw error;
  }
}

function describeAll(machine: Interpreter, entries: Listed['entries']): ExtractedNode[] {
  if (entries.length > limits.names) throw new LimitReached('it lists too many nodes');
  let left: number = limits.packBytes;
  return entries.map(({ name, cls, conditional, title }) => {
    const node = describeNode(machine, name, cls, conditional, title);
    left -= cut(node, Math.min(limits.nodeBytes, left));
    return node;
  });
}

/** If not all fields fit, the first ones are kept: the short and telling ones. */
const storedFields = [
  'function',
  'category',
  'return_types',
  'return_names',
  'display_name',
  'output_is_list',
  'input_types',
  'description',
] as const;

/** Drops fields that can't be stored: many nodes can share one long text. Returns the bytes of the others. */
function cut(node: ExtractedNode, bytes: number): number {
  let kept = 0;
  for (const field of storedFields) {
    const value = node[field] ?? '';
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const size = Buffer.byteLength(text);
    const isShort = typeof value === 'string' || value.length <= limits.flags;
    const fits = isShort && kept + size <= bytes;
    if (fits && text.isWellFormed()) kept += size;
    else {
      delete node[field];
      node.open.push(`${field}: ${fits ? 'it is not valid Unicode' : 'it is too long to be stored'}`);
    }
  }
  return kept;
}
