import { objectType } from '../values/builtin-types.ts';
import { Dict, List, PythonSet } from '../values/collections.ts';
import { Native } from '../values/objects.ts';
import { Unknown } from '../values/plain.ts';
import type { Value } from '../values/values.ts';
import { samplers, schedulers, socketTypes } from './names.ts';
import { schemaModel } from './schema-types.ts';

/*
 * What is known of the host application. Its folders hold what somebody installed, so lists of files are symbolic:
 * empty, and unknown when an item is asked for.
 */

const symbolic = new Native('a list of files', () => new List([], true));

const values: Record<string, () => Value> = {
  'folder_paths.get_filename_list': () => symbolic,
  'folder_paths.get_folder_paths': () => symbolic,
  'folder_paths.filter_files_extensions': () => symbolic,
  'folder_paths.filter_files_content_types': () => symbolic,
  'folder_paths.get_input_subfolders': () => symbolic,
  'folder_paths.base_path': () => '/host',
  'folder_paths.models_dir': () => '/host/models',
  'folder_paths.folder_names_and_paths': () => openDict('the folders that the host knows'),
  'folder_paths.supported_pt_extensions': () => new PythonSet(),
  'folder_paths.get_input_directory': () => folder('/host/input'),
  'folder_paths.get_output_directory': () => folder('/host/output'),
  'folder_paths.get_temp_directory': () => folder('/host/temp'),
  'folder_paths.get_user_directory': () => folder('/host/user'),
  'folder_paths.input_directory': () => '/host/input',
  'folder_paths.output_directory': () => '/host/output',
  'folder_paths.temp_directory': () => '/host/temp',
  'folder_paths.user_directory': () => '/host/user',
  'nodes.MAX_RESOLUTION': () => 16384n,
  'nodes.NODE_CLASS_MAPPINGS': () => openDict('the nodes of the host'),
  'nodes.NODE_DISPLAY_NAME_MAPPINGS': () => openDict('the nodes of the host'),
  'comfy.samplers.KSampler.SAMPLERS': () => new List([...samplers]),
  'comfy.samplers.KSampler.SCHEDULERS': () => new List([...schedulers]),
  'comfy.samplers.SAMPLER_NAMES': () => new List([...samplers]),
  'comfy.samplers.SCHEDULER_NAMES': () => new List([...schedulers]),
  'comfy.samplers.sampler_names': () => new Native('sampler_names', () => new List([...samplers])),
  'comfy.samplers.scheduler_names': () => new Native('scheduler_names', () => new List([...schedulers])),
  'comfy.comfy_types.node_typing.ComfyNodeABC': () => objectType,
  'comfy.comfy_types.ComfyNodeABC': () => objectType,
  'comfy.comfy_types.node_typing.CheckLazyMixin': () => objectType,
  'comfy.comfy_types.CheckLazyMixin': () => objectType,
};

const table = new Map(Object.entries(values));
const folders = new Map<string, Native>();

function folder(path: string): Native {
  const known = folders.get(path);
  if (known) return known;
  const made = new Native('a folder', () => path);
  folders.set(path, made);
  return made;
}

function openDict(why: string): Dict {
  const dict = new Dict();
  dict.open = why;
  return dict;
}

/** A value of the host's by its dotted name. */
export function hostModel(path: string): Value | undefined {
  const make = table.get(path);
  if (make) return make();
  const socket = /^comfy\.comfy_types(?:\.node_typing)?\.IO\.([A-Z_]+)$/.exec(path)?.[1];
  if (socket !== undefined) return socketTypes.get(socket) ?? new Unknown('a type of the host', path);
  return schemaModel(path);
}
