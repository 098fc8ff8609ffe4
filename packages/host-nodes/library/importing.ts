import { asText, plain, plainTruth } from '../values/access.ts';
import { addMethods, openType, pathType, raise } from '../values/builtin-types.ts';
import { Dict, List, type Machine, Module, type Value } from '../values/values.ts';
import { Instance, type NativeCall } from '../values/objects.ts';
import { Tuple, Unknown } from '../values/plain.ts';
import { argument, type Models, natives } from './define.ts';
import { pathText } from './files.ts';

const specType = openType('ModuleSpec');
const loaderType = openType('Loader');
const moduleInfoType = openType('ModuleInfo');

/** The folder of a package of the pack, as a path. */
function resources(machine: Machine, anchor: Value): Value {
  const named = asText(anchor);
  const module = named === undefined ? anchor : importModule(machine, named, null);
  const path = module instanceof Module ? plain(module.own('__path__') ?? null) : null;
  const folder = path instanceof List ? path.items[0] : undefined;
  return folder === undefined ? new Unknown('a package outside') : machine.call(pathType, [folder]);
}

function makeSpec(name: Value, path: string | undefined, inside: string | undefined): Value {
  if (path === undefined || inside === undefined) return new Unknown('a module outside of the pack');
  const spec = new Instance(specType);
  spec.define('name', name);
  spec.define('origin', path);
  spec.define('submodule_search_locations', null);
  const loader = new Instance(loaderType);
  loader.define('path', path);
  spec.define('loader', loader);
  return spec;
}

/** The path of a loader's or a spec's file in the pack's tree, without its ending. */
function placeOf(machine: Machine, from: Value, field: string): string | undefined {
  const path = from instanceof Instance ? asText(from.own(field)) : undefined;
  const inside = path === undefined ? undefined : machine.files.inside(path);
  return inside?.replace(/(?:^|\/)__init__\.py$/, '').replace(/\.py$/, '');
}

/** A spec's module. It runs in `exec_module`, where a pack may expect it to fail. */
function moduleOf(machine: Machine, spec: Value): Value {
  const place = placeOf(machine, spec, 'origin');
  return (
    (place === undefined ? undefined : machine.modules.makeOwn(place)) ??
    new Unknown('a module outside of the pack')
  );
}

addMethods(loaderType, {
  /** The module may be of another loader. */
  exec_module: (machine, [self = null, module = null]) => {
    if (!(module instanceof Module)) return null;
    const place = placeOf(machine, self, 'path');
    if (place === undefined || machine.modules.makeOwn(place)?.own('__file__') === undefined)
      return raise('FileNotFoundError', `No such file: '${place}'`);
    machine.modules.runOwn(module);
    return null;
  },
});

/** `__import__(name, globals, locals, fromlist, level)`: without `fromlist` the first part of the name. */
export const importByName: NativeCall = (machine, args, keywords) => {
  const name = asText(args[0]);
  const level = argument(args, keywords, 4, 'level') ?? 0n;
  const names = plain(argument(args, keywords, 3, 'fromlist') ?? null);
  if (name === undefined || typeof level !== 'bigint') return new Unknown('a module of unknown name');
  const around = argument(args, keywords, 1, 'globals');
  const anchor = around instanceof Dict ? (around.entries.get('__package__')?.value ?? null) : null;
  const module = importModule(machine, `${'.'.repeat(Number(level))}${name}`, anchor);
  if (names instanceof Unknown || plainTruth(machine, names) !== false || level > 0n) return module;
  const own = `custom_nodes.${machine.files.name}`;
  return insideOf(own, name) === undefined
    ? importModule(machine, name.split('.', 1)[0] ?? name, null)
    : (machine.modules.importOwn('') ?? module);
};

function importModule(machine: Machine, name: Value, anchor: Value): Value {
  const text = asText(name);
  if (text === undefined) return new Unknown('a module of unknown name');
  machine.budget.read(text.length);
  const level = /^\.*/.exec(text)?.[0].length ?? 0;
  const base = asText(anchor);
  const own = `custom_nodes.${machine.files.name}`;
  if (level > 0) {
    const inside = base === undefined ? '' : insideOf(own, base);
    if (inside === undefined) return machine.outside(text.slice(level));
    return machine.modules.importNamed(text.slice(level), level, new Module(base ?? own, inside, true));
  }
  const inside = insideOf(own, text);
  const relative = (inside ?? text).replaceAll('/', '.');
  return machine.modules.importNamed(relative, inside === undefined ? 0 : 1, new Module(own, '', true));
}

/** The tree path of a dotted name of the pack itself. */
function insideOf(own: string, name: string): string | undefined {
  if (name === own) return '';
  return name.startsWith(`${own}.`) ? name.slice(own.length + 1).replaceAll('.', '/') : undefined;
}

/** `iter_modules(paths, prefix)`: the modules of packages. */
const listModules: NativeCall = (machine, args, keywords) => {
  const paths = argument(args, keywords, 0, 'path') ?? null;
  const prefix = asText(argument(args, keywords, 1, 'prefix')) ?? '';
  if (paths instanceof Unknown || paths === null) return new Unknown('the modules that are installed');
  const folders = [...machine.iterate(paths)].map((path) => machine.files.inside(pathText(path) ?? ''));
  const own = folders.filter((folder) => folder !== undefined);
  return new List(own.flatMap((folder) => modulesIn(machine, folder, prefix)));
};

function modulesIn(machine: Machine, folder: string, prefix: string): Value[] {
  const names = machine.files.list(folder).sort();
  machine.budget.spend(names.length);
  return names.flatMap((name) => {
    const isPackage = machine.files.isFile(
      folder === '' ? `${name}/__init__.py` : `${folder}/${name}/__init__.py`,
    );
    if (!isPackage && (!name.endsWith('.py') || name === '__init__.py')) return [];
    return [moduleInfo(prefix + (isPackage ? name : name.slice(0, -3)), isPackage)];
  });
}

function moduleInfo(name: string, isPackage: boolean): Instance {
  const info = new Instance(moduleInfoType, new Tuple([null, name, isPackage]));
  info.define('name', name);
  info.define('ispkg', isPackage);
  info.define('module_finder', null);
  return info;
}

/** `importlib` and `pkgutil`: how packs collect the modules of a folder. */
export const importModels: Models = [
  ...natives('importlib', {
    import_module: (machine, args, keywords) =>
      importModule(machine, args[0] ?? null, argument(args, keywords, 1, 'package') ?? null),
    reload: (_, [module = null]) => module,
  }),
  ...natives('importlib.util', {
    spec_from_file_location: (machine, args, keywords) => {
      const path = pathText(argument(args, keywords, 1, 'location'));
      return makeSpec(args[0] ?? null, path, path === undefined ? undefined : machine.files.inside(path));
    },
    module_from_spec: (machine, [value = null]) => moduleOf(machine, value),
  }),
  ...natives('importlib.resources', { files: (machine, [anchor = null]) => resources(machine, anchor) }),
  ...natives('pkgutil', { iter_modules: listModules }),
];
