import type { StmtNode } from 'py-ast';
import { limits } from './limits.ts';
import { isPart, type Part, parseSource, partsOf } from './source.ts';

/*
 * Calls in a pack's code that an administrator may want to review. Well-known packs make all of them, so they
 * are facts and not a verdict. Reads every file, including those that the evaluator did not import. Follows
 * names through imports only, so `run = subprocess.run` passes, a function of the pack named `eval` counts as
 * Python's, and obfuscated code may hide its calls.
 */

/** The risk of a called function, by its full name. A file without one of a risk's words has no such call. */
const calls: readonly [risk: string, name: RegExp, words: string][] = [
  ['calls-eval', /^(?:builtins\.)?eval$/, String.raw`(?<!\.)\beval\b|\bbuiltins\b`],
  ['calls-exec', /^(?:builtins\.)?exec$/, String.raw`(?<!\.)\bexec\b|\bbuiltins\b`],
  [
    'calls-subprocess',
    /^(?:subprocess\.(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput)|asyncio\.create_subprocess_(?:exec|shell))$/,
    'subprocess',
  ],
  [
    'calls-os-system',
    /^os\.(?:system|popen|startfile|posix_spawnp?|exec[lv]p?e?|spawn[lv]p?e?)$/,
    String.raw`\b(?:system|popen|startfile|posix_spawnp?|exec[lv]p?e?|spawn[lv]p?e?)\b`,
  ],
  [
    'loads-pickle',
    /^(?:(?:c?pickle|dill|cloudpickle)\.(?:loads?|Unpickler)|joblib\.load)$/i,
    String.raw`\b(?:[cC]?[pP]ickle|dill|cloudpickle|joblib)\b`,
  ],
  ['loads-torch', /^torch\.load$/, String.raw`\bload\b`],
  ['loads-native-code', /^ctypes\.(?:CDLL|WinDLL|OleDLL|PyDLL|(?:cdll|windll)\.LoadLibrary)$/, 'ctypes'],
  [
    'uses-network',
    /^(?:requests|httpx)\.(?:get|post|put|patch|delete|head|request|stream|(?:Async)?Client|Session)$|^urllib\.request\.(?:urlopen|urlretrieve)$|^aiohttp\.(?:ClientSession|request)$|^socket\.(?:socket|create_connection)$/,
    String.raw`\b(?:requests|httpx|urllib|aiohttp|socket)\b`,
  ],
  ['installs-packages', /^pip(?:\._internal)?(?:\.cli\.main)?\.main$/, String.raw`\bpip3?\b`],
];
const installs = 'installs-packages';
const programs = ['calls-subprocess', 'calls-os-system'];

/** The order of the reported risks. */
const order = calls.map(([risk]) => risk);

export class Risks {
  readonly #found = new Set<string>();
  readonly #seen = new Set<string>();
  #left: number = limits.riskParts;
  /** The words of risks not found yet: a file without them need not be walked or even parsed. */
  #words = wordsOf(calls);

  get found(): string[] {
    return order.filter((risk) => this.#found.has(risk));
  }

  read(file: string, text: string, body: readonly StmtNode[]): void {
    this.#seen.add(file);
    if (this.#words.test(text)) this.#walk(body);
  }

  /** Reads the files that were not parsed yet, within the limits. */
  readRest(files: Iterable<[file: string, text: string]>): void {
    let characters: number = limits.riskCharacters;
    for (const [file, text] of files) {
      if (this.#seen.has(file) || !this.#words.test(text)) continue;
      characters -= text.length;
      if (characters < 0) return;
      try {
        this.read(file, text, parseSource(text).body);
      } catch {
        // A file that isn't Python runs nothing.
      }
    }
  }

  #walk(body: readonly StmtNode[]): void {
    const known = this.#found.size;
    const names: Names = new Map();
    const called: Part[] = [];
    for (const part of partsOf(body, this.#left, true)) {
      this.#left -= 1;
      if (part.nodeType === 'Call') called.push(part);
      else if (part.nodeType === 'Import' || part.nodeType === 'ImportFrom') addImports(names, part);
      else if (part.nodeType === 'List' || part.nodeType === 'Tuple') this.#readCommand(partsIn(part.elts));
    }
    for (const call of called) this.#readCall(call, names);
    if (this.#found.size > known) this.#words = wordsOf(calls.filter(([risk]) => !this.#found.has(risk)));
  }

  #readCall(call: Part, names: Names): void {
    const name = fullName(call.func, names);
    const risk = name === undefined ? undefined : calls.find(([, pattern]) => pattern.test(name))?.[0];
    if (risk === undefined || isHarmless(risk, call)) return;
    this.#found.add(risk);
    if (programs.includes(risk)) this.#readCommand(partsOf(partsIn(call.args), maxCommandParts));
  }

  /** A command line, as one string or as a list of words, may install a package. */
  #readCommand(parts: readonly Part[]): void {
    if (this.#found.has(installs)) return;
    const texts = parts.flatMap(({ value }) => (typeof value === 'string' ? [value.slice(0, maxWord)] : []));
    if (installCommand.test(texts.slice(0, maxCommandParts).join(' '))) this.#found.add(installs);
  }
}

function wordsOf(risks: typeof calls): RegExp {
  return new RegExp(risks.map(([, , words]) => words).join('|') || '(?!)');
}

const installCommand = /(?:^|[ /\\])pip3?\s+(?:-\S+\s+)*install(?:\s|$)/;
const maxWord = 200;
const maxCommandParts = 100;

/** The full names of a file's imports. */
type Names = Map<string, string>;

function partsIn(value: unknown): readonly Part[] {
  if (typeof value !== 'object' || value === null) return none;
  return Array.isArray(value) ? value.filter(isPart) : isPart(value) ? [value] : none;
}

const none: readonly Part[] = [];

function addImports(imported: Names, part: Part): void {
  const from =
    part.nodeType === 'ImportFrom' ? `${'.'.repeat(Number(part.level ?? 0))}${part.module ?? ''}.` : '';
  for (const { name, asname } of partsIn(part.names)) {
    const full = from + String(name);
    const [first = ''] = full.split('.');
    if (typeof asname === 'string') imported.set(asname, full);
    else if (from === '') imported.set(first, first);
    else imported.set(String(name), full);
  }
}

/** The dotted name of the callee. Undefined if it isn't a name, or belongs to a variable. */
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
    const known = names.get(String(part.id));
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
