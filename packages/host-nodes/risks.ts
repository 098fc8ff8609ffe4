import type { StmtNode } from 'py-ast';
import { limits } from './limits.ts';
import { parseSource } from './source.ts';

/*
 * What a pack's code calls that an administrator may want to know of. Well-known packs do all of these things, so they
 * are facts and no verdict. Every file is looked at, also those that the evaluator had no reason to import; names are
 * followed through imports only, so `run = subprocess.run` passes, and a file that hides what it does may hide it.
 */

/** What the full name of a called function says. */
const calls: readonly [risk: string, name: RegExp][] = [
  ['calls-eval', /^(?:builtins\.)?eval$/],
  ['calls-exec', /^(?:builtins\.)?exec$/],
  [
    'calls-subprocess',
    /^(?:subprocess\.(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput)|asyncio\.create_subprocess_(?:exec|shell))$/,
  ],
  ['calls-os-system', /^os\.(?:system|popen|startfile|posix_spawnp?|exec[lv]p?e?|spawn[lv]p?e?)$/],
  ['loads-pickle', /^(?:(?:c?pickle|dill|cloudpickle)\.(?:loads?|Unpickler)|joblib\.load)$/i],
  ['loads-torch', /^torch\.load$/],
  ['loads-native-code', /^ctypes\.(?:CDLL|WinDLL|OleDLL|PyDLL|(?:cdll|windll)\.LoadLibrary)$/],
  [
    'uses-network',
    /^(?:requests|httpx)\.(?:get|post|put|patch|delete|head|request|stream|(?:Async)?Client|Session)$|^urllib\.request\.(?:urlopen|urlretrieve)$|^aiohttp\.(?:ClientSession|request)$|^socket\.(?:socket|create_connection)$/,
  ],
  ['installs-packages', /^pip(?:\._internal)?(?:\.cli\.main)?\.main$/],
];
const installs = 'installs-packages';
const programs = ['calls-subprocess', 'calls-os-system'];
/** A file without one of these words has none of the calls above, and need not be walked or even parsed. */
const words =
  /\b(?:eval|exec[lv]?p?e?|subprocess|create_subprocess_\w+|system|popen|startfile|posix_spawnp?|spawn[lv]p?e?|loads?|Unpickler|\w+DLL|LoadLibrary|requests|httpx|urllib|aiohttp|socket|pip3?)\b/;

/** The order of what is reported. */
const order = calls.map(([risk]) => risk);

type Part = { readonly [Field in string]?: unknown } & { readonly nodeType: string };

export class Risks {
  readonly #found = new Set<string>();
  readonly #seen = new Set<string>();
  #left: number = limits.riskParts;

  get found(): string[] {
    return order.filter((risk) => this.#found.has(risk));
  }

  /** Looks at a file that was parsed. */
  read(file: string, text: string, body: readonly StmtNode[]): void {
    this.#seen.add(file);
    if (words.test(text)) this.#walk(partsIn(body));
  }

  /** Looks at the files that were not parsed yet, as far as the limits go. */
  readRest(files: Iterable<[file: string, text: string]>): void {
    let characters: number = limits.riskCharacters;
    for (const [file, text] of files) {
      if (this.#seen.has(file) || !words.test(text)) continue;
      characters -= text.length;
      if (characters < 0) return;
      try {
        this.read(file, text, parseSource(text).body);
      } catch {
        // A file that is not Python runs nothing.
      }
    }
  }

  #walk(body: readonly Part[]): void {
    const imported: Names = Object.create(null);
    const called: [Part, Names][] = [];
    const scopes = [[body, imported, imported] as const];
    for (const [roots, names, own] of scopes)
      for (const part of partsOf(roots)) {
        this.#left -= 1;
        if (this.#left < 0) return;
        if (part.names) addImports(imported, part);
        else if (part.nodeType === 'Call') called.push([part, names]);
        else if (part.elts) this.#readCommand(partsIn(part.elts));
        else if (part.type_params) {
          // A function or a class.
          own[part.name as string] = '.';
          const inner = Object.create(names);
          // What a class defines hides no name from its methods.
          scopes.push([innerParts(part), part.bases ? names : inner, inner]);
        }
      }
    for (const [call, names] of called) this.#readCall(call, names);
  }

  #readCall(call: Part, names: Names): void {
    const name = fullName(call.func, names);
    const risk = name === undefined ? undefined : calls.find(([, pattern]) => pattern.test(name))?.[0];
    if (risk === undefined || isHarmless(risk, call)) return;
    this.#found.add(risk);
    if (programs.includes(risk)) this.#readCommand([...partsOf(partsIn(call.args), maxCommandParts)]);
  }

  /** A command line, as one text or as a list of words, may install a package. */
  #readCommand(parts: readonly Part[]): void {
    if (this.#found.has(installs)) return;
    const texts = parts.flatMap(({ value }) => (typeof value === 'string' ? [value.slice(0, maxWord)] : []));
    if (installCommand.test(texts.slice(0, maxCommandParts).join(' '))) this.#found.add(installs);
  }
}

const installCommand = /(?:^|[ /\\])pip3?\s+(?:-\S+\s+)*install(?:\s|$)/;
const maxWord = 200;
const maxCommandParts = 100;

/** What a name of a file stands for; those of an inner function inherit from those around it. */
type Names = Record<string, string>;

/** Every part of a tree but what functions and classes hold, without calling itself: trees may be very deep. */
function* partsOf(roots: readonly Part[], max: number = limits.riskParts): Generator<Part> {
  const stack = roots.toReversed();
  for (let count = 0; count < max; count += 1) {
    const part = stack.pop();
    if (part === undefined) return;
    yield part;
    const inner = part.type_params ? none : innerParts(part);
    for (let index = inner.length - 1; index >= 0; index -= 1) stack.push(inner[index] as Part);
  }
}

function innerParts(part: Part): Part[] {
  return Object.values(part).flatMap(partsIn);
}

function partsIn(value: unknown): readonly Part[] {
  if (typeof value !== 'object' || value === null) return none;
  return Array.isArray(value) ? value.filter(isPart) : isPart(value) ? [value] : none;
}

const none: readonly Part[] = [];

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && 'nodeType' in value;
}

function addImports(imported: Names, part: Part): void {
  const from =
    part.nodeType === 'ImportFrom' ? `${'.'.repeat(Number(part.level ?? 0))}${part.module ?? ''}.` : '';
  for (const { name, asname } of partsIn(part.names)) {
    const full = from + String(name);
    const [first = ''] = full.split('.');
    if (typeof asname === 'string') imported[asname] = full;
    else if (from === '') imported[first] = first;
    else imported[String(name)] = full;
  }
}

/** The dotted name of the callee. Undefined if it is not a name, or belongs to a variable. */
function fullName(callee: unknown, names: Names): string | undefined {
  const attributes: string[] = [];
  let [part] = partsIn(callee);
  while (part?.nodeType === 'Attribute' && attributes.length < maxDots) {
    attributes.unshift(String(part.attr));
    [part] = partsIn(part.value);
  }
  const base = part && baseName(part, names, attributes.length > 0);
  return base === undefined ? undefined : [base, ...attributes].join('.');
}

const maxDots = 10;

function baseName(part: Part, names: Names, isModule: boolean): string | undefined {
  if (part.nodeType === 'Name') {
    const known = names[String(part.id)];
    return known ?? (isModule ? undefined : String(part.id));
  }
  // `__import__("os").system` and `import_module("os").system`.
  const [name] = part.nodeType === 'Call' ? partsIn(part.args) : [];
  if (name?.nodeType !== 'Constant') return undefined;
  const importer = fullName(part.func, names);
  return importer === '__import__' || importer === 'importlib.import_module' ? String(name.value) : undefined;
}

/** torch unpickles anything unless asked to load weights only. */
function isHarmless(risk: string, call: Part): boolean {
  if (risk !== 'loads-torch') return false;
  const keyword = partsIn(call.keywords).find(({ arg }) => arg === 'weights_only');
  return partsIn(keyword?.value)[0]?.value === true;
}
