import type { StmtNode } from 'py-ast';
import { declaredPackages, isDeclared, isPresent } from './host/packages.ts';
import { docOf } from './language/functions.ts';
import { limits } from './limits.ts';
import { countTokens, parseSource, type Source } from './source.ts';
import { asText, put } from './values/access.ts';
import { raise, Raised } from './values/builtin-types.ts';
import { Dict, Frame, List, type Machine, Module, type Value } from './values/values.ts';
import { OutsideModule, Unknown } from './values/plain.ts';

/** The file and line where a failure, or the dict of nodes, first occurred. */
export type Places = Map<unknown, string>;

/** The pack's modules: found in its tree, and run once from the top. */
export class Modules {
  readonly #machine: Machine;
  readonly #searchPath: Value;
  readonly #loaded = new Map<string, Module>();
  readonly #places: Places;
  /** A pack may run a file more than once, under several names. */
  readonly #sources = new Map<string, WeakRef<Source>>();
  #declared: ReadonlySet<string> | undefined;
  #parsed = 0;
  #depth = 0;
  #hasSkipped = false;
  /** The first file that ended because it imports a module which the pack lacks; the pack may go on without it. */
  broken: string | undefined;

  constructor(machine: Machine, searchPath: Value, places: Places) {
    this.#machine = machine;
    this.#searchPath = searchPath;
    this.#places = places;
  }

  importNamed(name: string, level: number, from: Module): Value {
    const parts = name === '' ? [] : name.split('.');
    if (level > 0) return this.#importRelative(parts, level, from);
    const known = this.#machine.outside('sys.modules');
    const given = known instanceof Dict ? known.entries.get(name)?.value : undefined;
    if (given !== undefined) return given;
    const own = this.#ownPath(parts);
    if (own !== undefined) return this.#importParts(own.base, own.rest, name);
    const outside = this.#machine.outside(name);
    if (outside instanceof Unknown && !isPresent(name)) this.#doubt(name);
    return outside instanceof Unknown ? new OutsideModule(outside.why, name) : outside;
  }

  /** It may not be installed, unless the pack requires it. */
  #doubt(name: string): void {
    const { files, budget, doubts } = this.#machine;
    this.#declared ??= declaredPackages(files.declarations());
    budget.spend(this.#declared.size >> 2);
    if (!isDeclared(name, this.#declared)) doubts.isMissing = true;
  }

  #importRelative(parts: readonly string[], level: number, from: Module): Value {
    const folders = folderOf(from).split('/').filter(Boolean);
    if (level - 1 > folders.length) return this.#machine.outside(parts.join('.'));
    return this.#importParts(folders.slice(0, folders.length - level + 1).join('/'), parts);
  }

  /** Imports a package and its nested modules in order. */
  #importParts(base: string, parts: readonly string[], absolute?: string): Value {
    let path = base;
    let module = parts.length === 0 ? this.importOwn(path) : undefined;
    for (const part of parts) {
      path = path === '' ? part : `${path}/${part}`;
      const parent = module;
      module = this.importOwn(path);
      // A folder without `__init__.py` may continue in another place of `sys.path`.
      const isElsewhere = absolute !== undefined && parent?.own('__file__') === undefined;
      if (!module) return isElsewhere ? this.#machine.outside(absolute) : this.#importedName(path);
    }
    return module ?? raise('ModuleNotFoundError', `No module named '${path}'`);
  }

  /** A name without a file may be an attribute of its package, such as a module made by hand. */
  #importedName(path: string): Value {
    const slash = path.lastIndexOf('/');
    const parent = this.#loaded.get(slash < 0 ? '' : path.slice(0, slash));
    const found = parent?.own(path.slice(slash + 1));
    return found === undefined ? raise('ModuleNotFoundError', `No module named '${path}'`) : found;
  }

  /** The path of an absolute name inside the pack: by its own name under `custom_nodes`, or by `sys.path`. */
  #ownPath(parts: readonly string[]): { base: string; rest: readonly string[] } | undefined {
    const { files } = this.#machine;
    const [first = '', second = ''] = parts;
    if (first === 'custom_nodes' && isSameName(second, files.name)) return { base: '', rest: parts.slice(2) };
    if (isSameName(first, files.name) && !isPresent(first) && !this.#exists(first))
      return { base: '', rest: parts.slice(1) };
    const entries = this.#searchPath instanceof List ? this.#searchPath.items : [];
    this.#machine.budget.spend(entries.length);
    for (const entry of entries) {
      const base = typeof entry === 'string' ? files.inside(entry) : undefined;
      if (base !== undefined && this.#exists(base === '' ? first : `${base}/${first}`))
        return { base, rest: parts };
    }
    return undefined;
  }

  #exists(path: string): boolean {
    const { files } = this.#machine;
    return files.isFile(`${path}.py`) || files.isFile(`${path}/__init__.py`) || files.isFolder(path);
  }

  importOwn(path: string): Module | undefined {
    const loaded = this.#loaded.get(path);
    if (loaded) return loaded;
    const made = this.makeOwn(path);
    if (!made) return undefined;
    this.#loaded.set(path, made);
    const known = this.#machine.outside('sys.modules');
    if (known instanceof Dict) put(this.#machine, known, made.name, made);
    try {
      this.runOwn(made);
    } catch (error) {
      this.#loaded.delete(path);
      throw error;
    }
    const slash = path.lastIndexOf('/');
    const parent = this.#loaded.get(slash < 0 ? '' : path.slice(0, slash));
    const name = path.slice(slash + 1);
    if (parent && path !== '' && parent.own(name) === undefined)
      this.#machine.setAttribute(parent, name, made);
    return made;
  }

  /** A module that has not run yet, as `module_from_spec` returns it. */
  makeOwn(path: string): Module | undefined {
    const { files } = this.#machine;
    const initial = path === '' ? '__init__.py' : `${path}/__init__.py`;
    const isPackage = files.isFile(initial) || !files.isFile(`${path}.py`);
    if (isPackage && !files.isFile(initial) && !files.isFolder(path)) return undefined;
    const file = isPackage ? initial : `${path}.py`;
    return this.#make(path, files.isFile(file) ? file : undefined, isPackage);
  }

  runOwn(module: Module): void {
    if (this.#depth >= limits.importDepth) raise('ImportError', 'imports nest too deeply');
    const file = this.#machine.files.inside(asText(module.own('__file__')) ?? '');
    this.#depth += 1;
    try {
      if (file !== undefined) this.run(module, file);
    } finally {
      this.#depth -= 1;
    }
  }

  #make(path: string, file: string | undefined, isPackage: boolean): Module {
    const { files } = this.#machine;
    const base = `custom_nodes.${files.name}`;
    const name = path === '' ? base : `${base}.${path.replaceAll('/', '.')}`;
    const module = new Module(name, path, isPackage);
    module.define('__name__', name);
    module.define('__package__', isPackage ? name : name.slice(0, name.lastIndexOf('.')));
    module.define('__doc__', null);
    if (file !== undefined) module.define('__file__', `${files.root}/${file}`);
    if (isPackage) module.define('__path__', new List([path === '' ? files.root : `${files.root}/${path}`]));
    return module;
  }

  /**
   * Runs a file's statements. A statement that would also fail in the host ends the file, and then the pack,
   * unless an `except` of the pack catches it. One that may fail only here, because something isn't modeled,
   * is noted and skipped.
   */
  run(module: Module, file: string): void {
    const { body, lines } = this.#parse(file);
    // Executed code is no longer needed, except the functions it defined.
    const frame = new Frame(module, lines);
    module.define('__doc__', docOf(body));
    for (const node of body) {
      const place = `${file}:${node.lineno}`;
      try {
        if (isExit.test(lines[node.lineno - 1] ?? '')) raise('SystemExit', 'it ends the host');
        this.#machine.execute([node], frame);
      } catch (error) {
        if (!this.#isSkipped(error, node, lines)) {
          const isAbsent = /^Import/.test(node.nodeType) && /^ModuleNotFoundError: No/.test(String(error));
          if (isAbsent && !this.#places.has(error))
            this.broken ??= `A file of it cannot be imported. ${error} (${place}).`;
          if (!this.#places.has(error)) this.#places.set(error, place);
          throw error;
        }
        this.#machine.note(`${place} is skipped: ${describe(error)}`);
        this.#leaveOpen(module, node, lines.slice(node.lineno - 1, node.end_lineno).join());
      }
      // The line where the names stop being known tells an author more than the reason.
      const list = module.own('NODE_CLASS_MAPPINGS');
      const isKnown = list instanceof Dict && list.open === undefined;
      if (!isKnown && !this.#places.has(list)) this.#places.set(list, place);
    }
  }

  #isSkipped(error: unknown, node: StmtNode, lines: readonly string[]): boolean {
    if (!(error instanceof Raised)) return error instanceof RangeError;
    // An error with a place has ended another module's file, which this statement imports.
    if (node.nodeType === 'Raise' || this.#places.has(error)) return false;
    if (isDefinite(error.toString(), node, lines, this.#hasSkipped)) return false;
    this.#hasSkipped = true;
    return true;
  }

  /** Leaves names open that a skipped statement would define, and nodes that it may have listed. */
  #leaveOpen(module: Module, node: StmtNode, code: string): void {
    const why = 'a statement that failed';
    const list = module.own('NODE_CLASS_MAPPINGS');
    if (list instanceof Dict && code.includes('NODE_CLASS_MAPPINGS')) {
      this.#machine.heap.touch(list);
      list.open ??= why;
    }
    const defined = node.nodeType === 'ClassDef' || node.nodeType === 'FunctionDef' ? [node.name] : [];
    const targets = node.nodeType === 'Assign' ? node.targets : [];
    for (const name of [...defined, ...targets.flatMap((to) => (to.nodeType === 'Name' ? [to.id] : []))]) {
      if (module.own(name) === undefined) this.#machine.setAttribute(module, name, new Unknown(why));
    }
  }

  #parse(file: string): Source {
    const text = this.#machine.files.read(file);
    if (text === undefined)
      return raise('ImportError', `${file} cannot be read: it is over 1 MB, or the pack over 20 MB`);
    this.#parsed += text.length;
    if (this.#parsed > limits.parsedCharacters) return raise('ImportError', 'the pack has too much code');
    this.#machine.budget.spend(countTokens(text));
    const known = this.#sources.get(text)?.deref();
    if (known) return known;
    try {
      const source = parseSource(text);
      this.#sources.set(text, new WeakRef(source));
      this.#machine.risks.read(file, text, source.body);
      return source;
    } catch (error) {
      const why = error instanceof Error ? error.message.slice(0, 200) : '';
      const text = `${file} cannot be read: ${why}`;
      this.#machine.note(text);
      return raise('SyntaxError', text);
    }
  }

  attribute(module: Module, name: string): Value | undefined {
    const own = module.own(name);
    if (own !== undefined) return own;
    if (name === '__dict__') return new Dict(module);
    const inside = module.path === '' ? name : `${module.path}/${name}`;
    const part = module.isPackage && this.#exists(inside) ? this.importOwn(inside) : undefined;
    if (part) return part;
    const fallback = module.own('__getattr__');
    return fallback === undefined ? undefined : this.#machine.call(fallback, [name]);
  }
}

function folderOf(module: Module): string {
  return module.isPackage ? module.path : module.path.slice(0, Math.max(0, module.path.lastIndexOf('/')));
}

/** Names of folders and modules differ only in dashes and case. */
function isSameName(name: string, pack: string): boolean {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[-_.]/g, '');
  return name !== '' && plain(name) === plain(pack);
}

function describe(error: unknown): string {
  return error instanceof Raised ? error.toString() : 'its code nests too deeply';
}

/** A line that ends the process that imports the pack. */
const isExit = /^(?:sys\.)?(?:exit|quit)\(.*\)$/;

const kinds = /^(?:(Assertion|ZeroDivision|Name)|Import|ModuleNotFound|Syntax|System|JSONDecode)E/;
/** Before the first comma, so that the message of an assertion doesn't count. */
const readsElsewhere = /^[^,]*\b(?!assert)[a-z_]\w*[.([]|__/i;

/**
 * Whether a statement also fails in the host. Imports, the end of the process and invalid JSON do. So does a
 * line that asserts something false, divides by zero, or uses a name that occurs nowhere before. But the line
 * must have no call, attribute or item, which the evaluator may see wrongly, and no statement before it was
 * skipped, because the line may need its result.
 */
function isDefinite(
  error: string,
  { lineno, end_lineno }: StmtNode,
  lines: readonly string[],
  hasSkipped: boolean,
): boolean {
  const [kind, own] = kinds.exec(error) ?? [];
  if (!own) return kind !== undefined;
  if (hasSkipped || lineno !== end_lineno || readsElsewhere.test(lines[lineno - 1] ?? '')) return false;
  const [, name] = error.split("'");
  const before = lines.slice(0, lineno - 1).join();
  return !name || !before.includes(name);
}
