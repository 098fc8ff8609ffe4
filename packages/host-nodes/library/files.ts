import { hostFolder } from '../files.ts';
import { pathType, raise } from '../values/builtin-types.ts';
import { asText } from '../values/access.ts';
import { Bytes, decoded } from '../values/bytes.ts';
import type { Machine } from '../values/machine.ts';
import { Native } from '../values/objects.ts';
import { hostList } from '../host/lists.ts';
import { isCounted, Iterator, Tuple, Unknown } from '../values/plain.ts';
import { type Keywords, List, type Value } from '../values/values.ts';
import { truth } from '../language/truth.ts';
import { fromData } from './data.ts';
import { argument, type Models, natives } from './define.ts';
import { folderOrder, matching } from './globbing.ts';
import { dumpJson } from './json-text.ts';
import { openFile, payForFolders } from './open-files.ts';
import { onPath, pathText } from './paths.ts';

export function fileModels(): Models {
  return [
    ...natives('os', folders),
    ...natives('glob', { glob }),
    ...natives('json', {
      loads: (machine, [text = null]) => parseJson(machine, text),
      load: (machine, [file = null]) => parseJson(machine, machine.call(machine.attribute(file, 'read'))),
      dumps: (machine, [value = null], keywords) => dumpJson(machine, value, keywords),
      dump: (machine, [value = null, file = null], keywords) =>
        machine.call(machine.attribute(file, 'write'), [dumpJson(machine, value, keywords)]),
    }),
    ['codecs.open', open],
  ];
}

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

function parseJson(machine: Machine, text: Value): Value {
  const content = text instanceof Bytes ? decoded(text) : asText(text);
  if (content === undefined) return new Unknown('a text with an unknown part');
  machine.budget.text(content.length);
  let parsed: unknown;
  try {
    parsed = JSON.parse(content, integers);
  } catch {
    // Python accepts these constants, and a file may begin with a byte order mark.
    if (/^\ufeff|NaN|Infinity/.test(content)) return new Unknown('JSON that only Python reads');
    return raise('JSONDecodeError', 'it is not JSON');
  }
  return fromData(machine, parsed);
}

/** JSON's `1.0` is a float in Python, and an integer has any size. */
function integers(
  this: unknown,
  _key: string,
  value: unknown,
  { source = '' }: { source?: string } = {},
): unknown {
  if (typeof value !== 'number' || /[.eE]/.test(source)) return value;
  return source.length > 1_000 ? new Unknown('a long number') : BigInt(source);
}
