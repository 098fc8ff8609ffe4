import { hostFolder, normalize } from '../files.ts';
import { asText } from '../values/access.ts';
import { addMethods, pathType, raise } from '../values/builtin-types.ts';
import type { Machine } from '../values/machine.ts';
import { type Class, Descriptor, Instance, Native, type NativeCall } from '../values/objects.ts';
import { Tuple, Unknown } from '../values/plain.ts';
import { hostList } from '../host/lists.ts';
import { List, type Value } from '../values/values.ts';
import { type Models, natives } from './define.ts';
import { folderOrder, matching } from './globbing.ts';
import { openFile, readText, writeText } from './open-files.ts';

/** `os.path` and `pathlib`, over the pack's own tree. */
export function pathModels(): Models {
  return [...natives('os.path', paths), ['pathlib.Path', pathType], ['pathlib.PurePath', pathType]];
}

/** A path's text; undefined if unknown. */
export function pathText(value: Value | undefined): string | undefined {
  if (value instanceof Instance && value.cls.inherits(pathType)) return asText(value.payload);
  return asText(value);
}

/** A function that needs a known path. */
export function onPath(
  run: (path: string, machine: Machine, rest: Value[]) => Value | undefined,
): NativeCall {
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
