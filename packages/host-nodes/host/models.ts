import { hostFolder } from '../files.ts';
import { objectType } from '../values/builtin-types.ts';
import { Native } from '../values/objects.ts';
import { Several, Unknown } from '../values/plain.ts';
import { List, openDict, PythonSet, type Value } from '../values/values.ts';
import { hostSamplers, hostTypes, samplers, schedulers, socketTypes } from './names.ts';
import { schemaModel } from './schema-types.ts';

/*
 * Known values of the host application. Its folders differ between machines, and with them lists of files.
 */

const hostFiles = new Native('a list of files', hostList);

const values: Record<string, () => Value> = {
  'folder_paths.base_path': () => hostFolder,
  'folder_paths.models_dir': () => `${hostFolder}/models`,
  'folder_paths.folder_names_and_paths': () => openDict('the folders that the host knows'),
  'folder_paths.supported_pt_extensions': () => new PythonSet(),
  'nodes.MAX_RESOLUTION': () => 16384n,
  'nodes.NODE_CLASS_MAPPINGS': () => openDict('the nodes of the host'),
  'nodes.NODE_DISPLAY_NAME_MAPPINGS': () => openDict('the nodes of the host'),
};

const table = new Map(Object.entries(values));
for (const name of ['get_filename_list', 'get_folder_paths', 'filter_files_extensions']) add(name, hostFiles);
for (const name of ['filter_files_content_types', 'get_input_subfolders']) add(name, hostFiles);
for (const kind of ['input', 'output', 'temp', 'user']) {
  const path = `${hostFolder}/${kind}`;
  add(`${kind}_directory`, path);
  add(`get_${kind}_directory`, new Native('a folder', () => path));
}
for (const [kind, names] of Object.entries({ sampler: samplers, scheduler: schedulers })) {
  const make = () => new List([...names]);
  for (const name of [`KSampler.${kind.toUpperCase()}S`, `${kind.toUpperCase()}_NAMES`])
    table.set(hostSamplers + name, make);
  table.set(`${hostSamplers}${kind}_names`, () => new Native(kind, make));
}
for (const name of ['ComfyNodeABC', 'CheckLazyMixin']) {
  for (const path of hostTypes) table.set(path + name, () => objectType);
}

function add(name: string, value: Value): void {
  table.set(`folder_paths.${name}`, () => value);
}

export function hostModel(path: string): Value | undefined {
  const make = table.get(path);
  if (make) return make();
  const [, socket] = /\.IO\.([A-Z_]+)$/.exec(path) ?? [];
  if (socket !== undefined && hostTypes.some((module) => path === `${module}IO.${socket}`))
    return socketTypes.get(socket) ?? new Unknown('a type of the host', path);
  return schemaModel(path);
}

const why = 'the host fills this list';

/** A list that depends on the installation, such as that of the installed models. */
export function hostList(): List {
  return new List([new Several(why, [new Unknown(why)])]);
}
