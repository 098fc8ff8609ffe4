import { asText, plainTruth } from '../values/access.ts';
import { enumType, openType, strType } from '../values/builtin-types.ts';
import { Dict, type Keywords, List, type Machine, type Value } from '../values/values.ts';
import { Class, Descriptor, Instance, Native } from '../values/objects.ts';
import { Unknown } from '../values/plain.ts';
import { hiddenInputs, inputParameters, plainParameters, schemaTypes } from './names.ts';

/*
 * The newer, class-based way to describe a node: `io.Int.Input('steps', default=20)` inside `io.Schema(...)`.
 * Each object keeps its arguments; schema.ts turns a schema into the older form.
 */

export const schemaType = openType('Schema');
export const inputType = openType('Input');
export const outputType = openType('Output');
export const nodeType = openType('ComfyNode');
const extensionType = openType('ComfyExtension');
export const templateType = openType('Template');
const socketType = openType('ComfyTypeIO');
const hiddenType = openType('Hidden');

const defaults: [string, Value][] = [
  ['display_name', null],
  ['category', 'sd'],
  ['inputs', null],
  ['outputs', null],
  ['hidden', null],
  ['description', ''],
];

const templates: readonly [string, readonly string[]][] = [
  ['Template', ['template_id', 'allowed_types']],
  ['TemplatePrefix', ['input', 'prefix', 'min', 'max']],
  ['TemplateNames', ['input', 'names', 'min']],
  ['Option', ['key', 'inputs']],
];

/** Attributes that a pack may read without setting them: the host's defaults, and values only it knows. */
const unset: readonly [Class, names: string, Value][] = [
  [
    schemaType,
    'is_input_list is_output_node is_deprecated is_experimental is_dev_only is_api_node not_idempotent enable_expand accept_all_inputs',
    false,
  ],
  [schemaType, 'price_badge essentials_category', null],
  [schemaType, 'search_aliases validate finalize get_v1_info', new Unknown('a member of a schema')],
  [inputType, 'display_name tooltip lazy rawLink advanced', null],
  [inputType, 'optional', false],
  [inputType, 'extra_dict as_dict get_all get_io_type', new Unknown('a member of an input')],
  [outputType, 'id display_name tooltip', null],
  [outputType, 'is_output_list', false],
  [outputType, 'as_dict get_io_type', new Unknown('a member of an output')],
  [
    templateType,
    'allowed_types input prefix names min max as_dict get_all',
    new Unknown('a member of a template'),
  ],
];

const path = /^comfy_api\.(?:latest|v\w+)(?:\.(?:_?io|IO))?\.(\w+)$/;
const known = new Map<string, Value>([
  ['ComfyNode', nodeType],
  ['ComfyExtension', extensionType],
  ['Schema', schemaType],
  ['Hidden', hiddenType],
  ['ComfyTypeIO', socketType],
  ['ComfyTypeI', socketType],
  [
    'Custom',
    new Native('Custom', (_, args, given) => makeSocket('Custom', asText(given.get('io_type') ?? args[0]))),
  ],
  choice('NumberDisplay', 'number slider gradient_slider:gradientslider'),
  choice('ControlAfterGenerate', 'fixed increment decrement randomize'),
  choice('FolderType', 'input output temp'),
  choice('UploadType', 'image:image_upload audio:audio_upload video:video_upload model:file_upload'),
]);
for (const [name, value] of defaults) schemaType.define(name, value);
for (const [type, names, value] of unset) for (const name of names.split(' ')) type.define(name, value);
for (const name of ['GET_SCHEMA', 'FINALIZE_SCHEMA']) {
  const schema = new Native(name, (machine, [cls = null]) =>
    machine.call(machine.attribute(cls, 'define_schema')),
  );
  nodeType.define(name, new Descriptor('classmethod', schema));
}
schemaType.construct = (_machine, cls, args, keywords) =>
  keep(cls, ['node_id', ...defaults.map(([name]) => name)], args, keywords);
inputType.construct = (machine, cls, args, keywords) => makeInput(machine, cls, args, keywords);
outputType.construct = (_machine, cls, args, keywords) => makeOutput(cls, args, keywords);
for (const [name, type] of schemaTypes) known.set(name, makeSocket(name, type));
for (const [name, value] of hiddenInputs) hiddenType.define(name, member(hiddenType, name, value));

export function schemaModel(dotted: string): Value | undefined {
  const name = path.exec(dotted)?.[1];
  return name === undefined ? undefined : known.get(name);
}

function member(cls: Class, name: string, value: string): Instance {
  const made = new Instance(cls, value);
  made.define('name', name);
  made.define('value', value);
  return made;
}

/** An enum of strings, each with a different name before a colon if needed. */
function choice(name: string, members: string): [string, Value] {
  const type = openType(name, enumType);
  type.mro = [type, enumType, ...strType.mro];
  for (const text of members.split(' ')) {
    const [key = '', value = key] = text.split(':');
    type.define(key, member(type, key, value));
  }
  return [name, type];
}

/** A class such as `io.Image`, with its `Input` and `Output`. */
function makeSocket(name: string, type: string | undefined): Value {
  if (type === undefined) return new Unknown('a type of unknown name');
  const socket = openType(name, socketType);
  dress(socket, name, type);
  return socket;
}

function dress(socket: Class, name: string, type: string): void {
  socket.define('io_type', type);
  const input = addPart(socket, 'Input', inputType);
  for (const parameter of inputParameters.get(name) ?? []) input.define(parameter, null);
  addPart(socket, 'Output', outputType);
  for (const [key, parameters] of templates) {
    const template = addPart(socket, key, templateType);
    template.construct = (_machine, cls, args, keywords) => keep(cls, parameters, args, keywords);
  }

  function addPart(owner: Class, key: string, base: Class): Class {
    const part = openType(key, base);
    part.construct = base.construct;
    part.define('io_type', type);
    part.define('kind', name);
    owner.define(key, part);
    return part;
  }
}

function keep(cls: Class, names: readonly string[], args: readonly Value[], keywords: Keywords): Instance {
  const made = new Instance(cls);
  for (const [name, value] of keywords) if (name !== '**') made.define(name, value);
  for (const [index, value] of args.entries()) made.define(names[index] ?? `argument ${index}`, value);
  const unknown = keywords.get('**');
  if (unknown instanceof Unknown) made.open = unknown.why;
  return made;
}

export function kindOf(cls: Class): string {
  return asText(cls.find('kind')) ?? '';
}

function makeInput(machine: Machine, cls: Class, args: Value[], keywords: Keywords): Value {
  const kind = kindOf(cls);
  const input = keep(cls, ['id', ...(inputParameters.get(kind) ?? plainParameters)], args, keywords);
  input.define('io_type', cls.find('io_type') ?? null);
  if (kind === 'Combo' || kind === 'MultiCombo') {
    input.define('multiselect', kind === 'MultiCombo');
    input.define('options', optionsOf(machine, input.own('options') ?? null));
  }
  if (kind === 'String' && input.own('multiline') === undefined) input.define('multiline', false);
  return input;
}

/** The choices may be given as an enum. */
function optionsOf(machine: Machine, options: Value): Value {
  if (!(options instanceof Class)) return options;
  const members = options.find('_member_map_');
  if (!(members instanceof Dict)) return new Unknown('an unknown enum');
  machine.budget.spend(members.entries.size);
  return new List(
    [...members.entries.values()].map(({ value }) =>
      value instanceof Instance ? (value.own('value') ?? null) : value,
    ),
  );
}

function makeOutput(cls: Class, args: Value[], keywords: Keywords): Value {
  const kind = kindOf(cls);
  const first = kind === 'MatchType' ? ['template', 'id'] : ['id'];
  const names = kind === 'Combo' ? ['id', 'display_name', 'options'] : [...first, 'display_name'];
  const output = keep(cls, [...names, 'tooltip', 'is_output_list'], args, keywords);
  if (kind === 'MatchType' && output.own('display_name') === undefined)
    output.define('display_name', 'MATCHTYPE');
  output.define('io_type', cls.find('io_type') ?? null);
  return output;
}

/** Whether a flag of a schema, input or output is set; undefined if unknown. */
export function flag(machine: Machine, holder: Instance, name: string): boolean | undefined {
  return plainTruth(machine, holder.own(name) ?? false);
}
