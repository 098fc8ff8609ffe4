import { hostFolder, normalize } from '../files.ts';
import { addMethods, fileType, pathType, raise } from '../values/builtin-types.ts';
import { addUnfollowed, asText, truth } from '../values/access.ts';
import { encoded, isCounted, Iterator, Tuple, Unknown } from '../values/plain.ts';
import { type Keywords, List, type Machine, type Value } from '../values/values.ts';
import { type Class, Descriptor, Instance, Native, type NativeCall } from '../values/objects.ts';
import { hostList } from '../host/models.ts';
import { argument, type Models, natives } from './define.ts';
import { find } from './pattern-matching.ts';
import { parsePattern } from './pattern-syntax.ts';

export const open = new Native('open', (machine, args, keywords) => {
  const path = pathText(args[0]);
  const mode = asText(argument(args, keywords, 1, 'mode')) ?? 'r';
  if (path === undefined) return new Unknown('an unknown file');
  const whole = path.startsWith('/') ? path : `${hostFolder}/${path}`;
  return openFile(machine, whole, mode, keywords.has('newline'));
});

/** Names in a folder. Those of the host's own folders depend on the installation. */
const listFolder = onPath((path, machine) => {
  const inside = machine.files.inside(path);
  if (inside === undefined) return hostList();
  if (!machine.files.isFolder(inside)) return raise('FileNotFoundError', `No such folder: '${inside}'`);
  const names = machine.files.list(inside);
  machine.budget.spend(names.length);
  return new List(names, folderOrder);
});

const folders = {
  listdir: (machine: Machine, args: Value[], keywords: Keywords) => {
    const names = listFolder(machine, args, keywords);
    if (names instanceof Unknown || (names instanceof List && !isCounted(machine, names.items)))
      machine.doubts.isMissing = true;
    return names;
  },
  /** A path has the members that packs use on an entry. */
  scandir: (machine: Machine, [path = hostFolder]: Value[]) =>
    machine.call(machine.attribute(machine.call(pathType, [path]), 'iterdir')),
  walk: onPath((path, machine) => {
    const inside = machine.files.inside(path);
    return inside === undefined ? hostList() : new Iterator(walk(machine, path, inside), folderOrder);
  }),
  getcwd: () => hostFolder,
  access: () => true,
  makedirs: onPath((path, machine) => {
    const inside = machine.files.inside(path);
    if (inside) {
      payForFolders(machine, inside);
      machine.files.makeFolder(inside);
    }
  }),
  mkdir: () => null,
  remove: () => null,
};

function* walk(machine: Machine, path: string, inside: string): Generator<Value> {
  const names = machine.files.list(inside);
  machine.budget.spend(names.length + 1);
  const pathOf = (name: string) => (inside === '' ? name : `${inside}/${name}`);
  const within = names.filter((name) => machine.files.isFolder(pathOf(name)));
  const subfolders = new List([...within], folderOrder);
  const files = names.filter((name) => machine.files.isFile(pathOf(name)));
  yield new Tuple([path, subfolders, new List(files, folderOrder)]);
  // The caller may have removed folders from the list.
  for (const name of subfolders.items)
    if (typeof name === 'string') yield* walk(machine, `${path}/${name}`, pathOf(name));
}

const glob: Native['run'] = (machine, args, keywords) => {
  const pattern = pathText(args[0]);
  if (pattern === undefined) return new Unknown('an unknown path');
  const recursive = truth(machine, keywords.get('recursive') ?? false) === true;
  const base = pathText(keywords.get('root_dir'));
  const found = matching(machine, base === undefined ? pattern : `${base}/${pattern}`, recursive);
  if (!found) return hostList();
  const names = base === undefined ? found : found.map((path) => path.slice(base.length + 1));
  return new List(names, folderOrder);
};

/** A file of the pack as text. Unknown if it is outside the pack, or not text. */
export function readText(machine: Machine, path: string): Value {
  const inside = machine.files.inside(path);
  if (inside === undefined) return new Unknown('it depends on other files of the host');
  if (!machine.files.isFile(inside)) return raise('FileNotFoundError', `No such file: '${inside}'`);
  const text = machine.files.read(inside);
  if (text === undefined) return new Unknown('a file that is not text');
  machine.budget.text(text.length);
  return text.replace(/^\uFEFF/, '');
}

/** Keeps files in memory that the pack writes into its own folder. */
function writeText(machine: Machine, path: string, text: string): void {
  const inside = machine.files.inside(path);
  machine.budget.spend(10);
  if (inside === undefined || inside === '') return;
  payForFolders(machine, inside);
  machine.files.write(inside, text);
}

/** The tree keeps the whole path of each folder. */
function payForFolders(machine: Machine, path: string): void {
  machine.budget.text(path.length * path.split('/').length, path.length);
}

/** `open(path, mode)`: text has line feeds for all line ends, unless the pack names them. */
function openFile(machine: Machine, path: string, mode: string, keepsEnds = false): Value {
  const file = new Instance(fileType);
  file.define('name', path);
  file.define('mode', mode);
  if (!/[wax]/.test(mode)) {
    const text = readText(machine, path);
    if (typeof text !== 'string') file.define('text', text);
    else if (mode.includes('b'))
      file.define('text', bytesOf(path, machine.files.read(machine.files.inside(path) ?? '')));
    else file.define('text', keepsEnds ? text : text.replaceAll(/\r\n?/g, '\n'));
  } else file.define('text', '');
  return file;
}

/** Code may be in another encoding. */
function bytesOf(path: string, text = ''): Value {
  return (path.endsWith('.py') ? undefined : encoded(text)) ?? new Unknown('bytes');
}

function textOf(file: Value | undefined): Value {
  return (file instanceof Instance ? file.own('text') : undefined) ?? new Unknown('an unknown file');
}

function lines(machine: Machine, file: Value | undefined): Value {
  const text = textOf(file);
  if (typeof text !== 'string') return text instanceof Unknown ? text : new Unknown('bytes');
  machine.budget.read(text.length);
  const parts = text.split(/(?<=\n)/).filter((line) => line !== '');
  machine.budget.spend(parts.length);
  return new List(parts);
}

function close(machine: Machine, file: Value | undefined): void {
  if (!(file instanceof Instance)) return;
  const [name, mode, text] = [file.own('name'), file.own('mode'), file.own('text')];
  if (typeof name === 'string' && /[wax]/.test(String(mode)) && typeof text === 'string')
    writeText(machine, name, text);
}

addMethods(fileType, {
  read: (_, [self]) => textOf(self),
  readlines: (machine, [self]) => lines(machine, self),
  __iter__: (machine, [self]) => lines(machine, self),
  write: (machine, [self, text]) => {
    const added = asText(text);
    const old = textOf(self);
    if (self instanceof Instance && added !== undefined && typeof old === 'string') {
      machine.budget.text(added.length, old.length + added.length);
      machine.setAttribute(self, 'text', old + added);
    }
  },
  close: (machine, [self]) => {
    close(machine, self);
  },
  __enter__: (_, [self = null]) => self,
  __exit__: (machine, [self]) => {
    close(machine, self);
  },
});
addUnfollowed(fileType, 'readline seek truncate writelines', (machine, file, why) =>
  machine.setAttribute(file, 'text', new Unknown(why)),
);

const folderOrder = 'a folder is listed in any order';

/** The pack's files that match a pattern of `*`, `?`, `[…]` and `**`; undefined if it leads outside. */
function matching(machine: Machine, pattern: string, recursive: boolean): string[] | undefined {
  const parts = pattern.split('/').filter((part, index) => part !== '' || index === 0);
  const fixed = parts.findIndex((part) => /[*?[]/.test(part));
  const base = fixed < 0 ? parts.slice(0, -1) : parts.slice(0, fixed);
  const root = machine.files.inside(base.join('/') || '/');
  if (root === undefined) return undefined;
  const found: string[] = [];
  collect(root, parts.slice(base.length));
  return found.map((path) => `${machine.files.root}/${path}`);

  function collect(folder: string, [part, ...rest]: readonly string[]): void {
    if (part === undefined) return;
    machine.budget.spend();
    const isDeep = part === '**' && recursive;
    if (isDeep) collect(folder, rest);
    for (const name of machine.files.list(folder)) {
      machine.budget.spend();
      const path = folder === '' ? name : `${folder}/${name}`;
      const isFolder = machine.files.isFolder(path);
      if (isDeep) {
        if (isFolder) collect(path, [part, ...rest]);
        else if (rest.length === 0) found.push(path);
      } else if (matchesName(machine, part, name) && !(name.startsWith('.') && !part.startsWith('.'))) {
        if (rest.length === 0) found.push(path);
        else if (isFolder) collect(path, rest);
      }
    }
  }
}

/** Whether a file name matches a pattern of the pack, which takes steps like the pack's expressions. */
function matchesName(machine: Machine, pattern: string, name: string): boolean {
  machine.budget.spend(pattern.length);
  const source = pattern.replaceAll(/\*+|\[(?:![\s\S]|[^!])[^\]]*\]|\W/g, (token) => {
    if (token.startsWith('*')) return '.*';
    if (token === '?') return '.';
    if (token.length === 1) return `\\${token}`;
    const set = token.slice(1, -1).replaceAll(/[\\^]/g, '\\$&');
    return `[${set.replace(/^!/, '^')}]`;
  });
  const flags = { ignoreCase: false, multiline: false, dotAll: true };
  const spend = (steps?: number) => machine.budget.spend(steps);
  return find(parsePattern(source, flags), name, 0, spend, { anchored: true, whole: true }) !== undefined;
}

/** A path's text; undefined if unknown. */
export function pathText(value: Value | undefined): string | undefined {
  if (value instanceof Instance && value.cls.inherits(pathType)) return asText(value.payload);
  return asText(value);
}

/** A function that needs a known path. */
function onPath(run: (path: string, machine: Machine, rest: Value[]) => Value | undefined): NativeCall {
  return (machine, [value, ...rest]) => {
    const path = pathText(value);
    machine.budget.read(path?.length ?? 0);
    return path === undefined ? new Unknown('an unknown path') : run(path, machine, rest);
  };
}

export function absolute(path: string): string {
  return normalize(path.startsWith('/') ? path : `${hostFolder}/${path}`);
}

/** Checks the tree; paths outside it are unknown. */
function ask(machine: Machine, path: string, question: (inside: string) => boolean): Value {
  const inside = machine.files.inside(absolute(path));
  return inside === undefined ? new Unknown('it depends on other files of the host') : question(inside);
}

function joined(machine: Machine, parts: readonly (string | undefined)[]): Value {
  let path = '';
  for (const part of parts) {
    if (part === undefined) return new Unknown('an unknown path');
    machine.budget.text(part.length, path.length + part.length);
    if (part.startsWith('/')) path = part;
    else path += path === '' || path.endsWith('/') ? part : `/${part}`;
  }
  return path;
}

function parent(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : slash === 0 ? '/' : path.slice(0, slash);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** A name and its ending: leading dots begin a name, and a last one ends it for `pathlib` alone. */
function splitName(name: string, isEnded = false): [string, string] {
  const [, stem = name, end = ''] = /^(\.*[^.].*)(\.[^.]*)$/.exec(name) ?? [];
  return isEnded && end === '.' ? [name, ''] : [stem, end];
}

function isUnder(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function exists(machine: Machine, path: string): Value {
  return ask(machine, path, (inside) => machine.files.isFile(inside) || machine.files.isFolder(inside));
}

function relative(path: string, start: string): string {
  const [from, to] = [absolute(start).split('/'), absolute(path).split('/')];
  let common = 0;
  while (common < from.length && common < to.length && from[common] === to[common]) common += 1;
  return [...Array(from.length - common).fill('..'), ...to.slice(common)].join('/') || '.';
}

const paths: Record<string, NativeCall> = {
  join: (machine, args) => joined(machine, args.map(pathText)),
  dirname: onPath(parent),
  basename: onPath(nameOf),
  abspath: onPath(absolute),
  realpath: onPath(absolute),
  normpath: onPath((path) => normalize(path)),
  expanduser: onPath((path) => (path.startsWith('~') ? new Unknown('a home folder') : path)),
  split: onPath((path) => new Tuple([parent(path), nameOf(path)])),
  exists: onPath((path, machine) => exists(machine, path)),
  isfile: onPath((path, machine) => ask(machine, path, (inside) => machine.files.isFile(inside))),
  isdir: onPath((path, machine) => ask(machine, path, (inside) => machine.files.isFolder(inside))),
  islink: () => false,
  isabs: onPath((path) => path.startsWith('/')),
  splitext: onPath((path) => {
    const [stem, suffix] = splitName(nameOf(path));
    return new Tuple([path.slice(0, path.length - nameOf(path).length) + stem, suffix]);
  }),
  relpath: onPath((path, _machine, [start]) => relative(path, pathText(start) ?? hostFolder)),
};

function makePath(path: string, cls: Class = pathType): Instance {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return new Instance(cls, (path.startsWith('/') ? '/' : '') + parts.join('/') || '.');
}

pathType.construct = (machine, cls, args) => {
  const path = joined(machine, args.map(pathText));
  return typeof path === 'string' ? makePath(path, cls.inherits(pathType) ? cls : pathType) : path;
};

function property(read: (path: string, machine: Machine) => Value): Descriptor {
  const getter = onPath((path, machine) => read(path, machine));
  return new Descriptor('property', new Native('path', getter));
}

function parents(path: string, machine: Machine): List {
  const list: Value[] = [];
  for (let place = path; place !== '' && place !== '/' && place !== '.'; ) {
    machine.budget.text(place.length);
    place = parent(place);
    list.push(makePath(place));
  }
  return new List(list);
}

/** A method that changes a path's last part. */
function renamed(name: (old: string, given: string) => string): NativeCall {
  return onPath((path, machine, [value]) => {
    const given = asText(value);
    if (given === undefined) return new Unknown('an unknown path');
    machine.budget.text(path.length + given.length);
    const old = nameOf(path);
    return makePath(path.slice(0, path.length - old.length) + name(old, given));
  });
}

const properties: Record<string, (path: string, machine: Machine) => Value> = {
  parent: (path) => makePath(parent(path)),
  parents,
  name: nameOf,
  path: (path) => path,
  stem: (path) => splitName(nameOf(path), true)[0],
  suffix: (path) => splitName(nameOf(path), true)[1],
  anchor: (path) => (path.startsWith('/') ? '/' : ''),
  root: (path) => (path.startsWith('/') ? '/' : ''),
  drive: () => '',
  parts: (path) => new Tuple([...(path.startsWith('/') ? ['/'] : []), ...path.split('/').filter(Boolean)]),
  suffixes: (path) =>
    new List(
      (nameOf(path).endsWith('.') ? '' : nameOf(path))
        .replace(/^\.+/, '')
        .split('.')
        .slice(1)
        .map((end) => `.${end}`),
    ),
};
for (const [name, read] of Object.entries(properties)) pathType.define(name, property(read));

addMethods(pathType, {
  __str__: onPath((path) => path),
  __repr__: onPath((path) => `PosixPath('${path}')`),
  __fspath__: onPath((path) => path),
  joinpath: (machine, args) => {
    const path = joined(machine, args.map(pathText));
    return typeof path === 'string' ? makePath(path) : path;
  },
  resolve: onPath((path) => makePath(absolute(path))),
  absolute: onPath((path) => makePath(absolute(path))),
  expanduser: onPath((path) => (path.startsWith('~') ? new Unknown('a home folder') : makePath(path))),
  as_posix: onPath((path) => path),
  is_absolute: onPath((path) => path.startsWith('/')),
  with_name: renamed((_, name) => name),
  with_stem: renamed((old, stem) => stem + splitName(old, true)[1]),
  with_suffix: renamed((old, suffix) => splitName(old, true)[0] + suffix),
  relative_to: onPath((path, _machine, [base]) => {
    const start = pathText(base);
    if (start === undefined) return new Unknown('an unknown path');
    return isUnder(path, start)
      ? makePath(path.slice(start.length + 1))
      : raise('ValueError', 'it is not a valid value');
  }),
  is_relative_to: onPath((path, _machine, [base]) => {
    const start = pathText(base);
    return start === undefined ? new Unknown('an unknown path') : isUnder(path, start);
  }),
  exists: onPath((path, machine) => exists(machine, path)),
  is_file: paths.isfile as NativeCall,
  is_dir: paths.isdir as NativeCall,
  is_symlink: () => false,
  iterdir: onPath((path, machine) => {
    const inside = machine.files.inside(absolute(path));
    if (inside === undefined) return hostList();
    const names = machine.files.list(inside);
    machine.budget.spend(names.length);
    return new List(
      names.map((name) => makePath(`${path}/${name}`)),
      folderOrder,
    );
  }),
  glob: onPath((path, machine, [pattern]) => found(machine, path, asText(pattern) ?? '')),
  rglob: onPath((path, machine, [pattern]) => found(machine, path, `**/${asText(pattern) ?? ''}`)),
  mkdir: () => null,
  read_text: onPath((path, machine) => readText(machine, absolute(path))),
  write_text: onPath((path, machine, [text]) => {
    writeText(machine, absolute(path), asText(text) ?? '');
  }),
  open: onPath((path, machine, [mode]) => openFile(machine, absolute(path), asText(mode) ?? 'r')),
});

function found(machine: Machine, path: string, pattern: string): Value {
  const list = matching(machine, `${absolute(path)}/${pattern}`, true);
  const paths = list?.map((name) => makePath(name));
  return paths ? new List(paths, folderOrder) : hostList();
}

const places = { cwd: () => makePath(hostFolder), home: () => new Unknown('a home folder') };
for (const [name, run] of Object.entries(places))
  pathType.define(name, new Descriptor('staticmethod', new Native(name, run)));

/** `os.path` and `pathlib`, over the pack's own tree. */
export const fileModels: Models = [
  ...natives('os', folders),
  ...natives('glob', { glob }),
  ['codecs.open', open],
  ...natives('os.path', paths),
  ['pathlib.Path', pathType],
  ['pathlib.PurePath', pathType],
];
