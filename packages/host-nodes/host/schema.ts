import { asText, dictOf, plain, put } from '../values/access.ts';
import { Dict, List, type Machine, type Value } from '../values/values.ts';
import { Class, Instance } from '../values/objects.ts';
import { Tuple, Unknown } from '../values/plain.ts';
import { inputFields, inputParameters, optionNames, ownDefaults } from './names.ts';
import { flag, inputType, kindOf, outputType, schemaType, templateType } from './schema-types.ts';

export const convertedFields = [
  ...(['display_name', 'category', 'description', 'deprecated', 'experimental'] as const),
  ...(['input_types', 'return_types', 'return_names', 'output_is_list'] as const),
];

/** A node of the newer schema in the older form. */
type Converted = Record<(typeof convertedFields)[number], Value>;

export function schemaOf(machine: Machine, cls: Value): Value {
  const isAsked = cls instanceof Class && cls.find('GET_SCHEMA') !== undefined;
  return machine.call(machine.attribute(cls, isAsked ? 'GET_SCHEMA' : 'define_schema'));
}

/** Converts a schema. Undefined for any other value. */
export function convert(machine: Machine, schema: Value): Converted | undefined {
  if (!(schema instanceof Instance) || schema.cls !== schemaType) return undefined;
  const field = (name: string, fallback: Value): Value =>
    schema.own(name) ?? (schema.open === undefined ? fallback : new Unknown(schema.open));
  const outputs = field('outputs', new List());
  return {
    display_name: field('display_name', null),
    category: field('category', 'sd'),
    description: field('description', ''),
    deprecated: field('is_deprecated', false),
    experimental: field('is_experimental', false),
    input_types: withHidden(machine, inputDict(machine, field('inputs', new List())), schema),
    return_types: ofEach(machine, outputs, (output) => output.own('io_type')),
    return_names: ofEach(machine, outputs, (output) => {
      const names = [output.own('display_name'), output.own('id')];
      return (
        names.find((name) => name !== undefined && name !== null && name !== '') ?? output.own('io_type')
      );
    }),
    output_is_list: ofEach(
      machine,
      outputs,
      (output) => flag(machine, output, 'is_output_list') ?? new Unknown('an unknown condition'),
    ),
  };
}

function ofEach(machine: Machine, outputs: Value, pick: (output: Instance) => Value | undefined): Value {
  if (outputs instanceof Unknown) return outputs;
  if (outputs === null) return new List();
  const list: Value[] = [];
  for (const output of machine.iterate(outputs)) {
    const isOutput = output instanceof Instance && output.cls.inherits(outputType);
    list.push((isOutput ? pick(output) : undefined) ?? new Unknown('an unknown output'));
  }
  return new List(list);
}

function inputDict(machine: Machine, inputs: Value): Value {
  const required = new Dict();
  const result = dictOf(machine, [['required', required]]);
  if (inputs instanceof Unknown) result.open = inputs.why;
  else if (inputs !== null) for (const input of machine.iterate(inputs)) addInput(machine, result, input);
  return result;
}

function addInput(machine: Machine, result: Dict, input: Value): void {
  const id = input instanceof Instance ? idOf(input) : undefined;
  if (!(input instanceof Instance) || !input.cls.inherits(inputType) || id === undefined) {
    result.open ??= 'an unknown input';
    return;
  }
  const optional = flag(machine, input, 'optional') || flag(machine, overridden(input), 'optional');
  const group = optional ? 'optional' : 'required';
  const known = result.entries.get(group)?.value;
  const dict = known instanceof Dict ? known : new Dict();
  if (known === undefined) put(machine, result, group, dict);
  put(machine, dict, id, new Tuple([socketOf(machine, input), optionsOf(machine, input)]));
}

/** An input that takes several types may get another input instead of its name. */
function overridden(input: Instance): Instance {
  const id = input.own('id');
  return id instanceof Instance && id.cls.inherits(inputType) ? id : input;
}

function idOf(input: Instance): string | undefined {
  return asText(overridden(input).own('id'));
}

function socketOf(machine: Machine, input: Instance): Value {
  const type = input.own('widget_type') ?? input.own('io_type') ?? null;
  if (kindOf(input.cls) !== 'MultiType') return type;
  const types = input.own('types') ?? null;
  if (types instanceof Unknown) return types;
  const inner = overridden(input);
  const names = inner === input ? [] : [inner.own('io_type') ?? null];
  for (const socket of machine.iterate(types)) {
    names.push(
      (socket instanceof Class
        ? socket.find('io_type')
        : socket instanceof Instance
          ? socket.own('io_type')
          : undefined) ?? null,
    );
  }
  const texts = names.map(asText);
  return texts.includes(undefined) ? new Unknown('a type of unknown name') : [...new Set(texts)].join(',');
}

function optionsOf(machine: Machine, input: Instance): Value {
  const options = new Dict();
  const inner = overridden(input);
  const isWidget = inputParameters.get(kindOf(inner.cls))?.includes('default');
  for (const holder of inner === input ? [input] : [inner, input]) addOptions(machine, options, holder);
  if (inner !== input && isWidget) put(machine, options, 'widgetType', inner.own('io_type') ?? null);
  return options;
}

function addOptions(machine: Machine, options: Dict, input: Instance): void {
  const kind = kindOf(input.cls);
  machine.budget.spend(input.entries.size);
  for (const [field, name] of optionNames) {
    const value = input.own(field);
    if (value === undefined || value === null || (kind === 'DynamicCombo' && field === 'options')) continue;
    put(machine, options, name, value instanceof Instance ? (value.own('value') ?? plain(value)) : value);
  }
  const upload = input.own('upload');
  if (upload instanceof Instance) put(machine, options, asText(upload) ?? '', true);
  const folder = input.own('image_folder');
  if (folder instanceof Instance) put(machine, options, 'image_folder', plain(folder));
  if (input.own('remote') instanceof Unknown || input.own('remote_combo') instanceof Unknown)
    options.open ??= 'choices that come from a server';
  if (ownDefaults.has(kind)) options.open ??= `what the host adds to ${kind}`;
  const extra = input.own('extra_dict');
  if (extra instanceof Dict) machine.call(machine.attribute(options, 'update'), [extra]);
  if (['Autogrow', 'DynamicCombo', 'DynamicSlot'].includes(kind)) addDynamic(machine, options, input, kind);
  if (kind === 'MatchType') put(machine, options, 'template', matchTemplate(machine, input.own('template')));
  if (input.open !== undefined) options.open ??= input.open;
  for (const field of input.entries.keys())
    if (!inputFields.has(String(field))) options.open ??= `the argument ${String(field)} of the host`;
}

function matchTemplate(machine: Machine, template: Value | undefined): Value {
  if (!(template instanceof Instance) || !template.cls.inherits(templateType))
    return new Unknown('a template');
  const allowed = template.own('allowed_types') ?? null;
  const types = allowed instanceof Class ? [allowed] : allowed === null ? [] : [...machine.iterate(allowed)];
  const names = types.map((type) => (type instanceof Class ? asText(type.find('io_type')) : undefined));
  const id = template.own('template_id') ?? null;
  if (names.includes(undefined)) return new Unknown('a type of unknown name');
  return dictOf(machine, [
    ['template_id', id],
    ['allowed_types', allowed === null ? '*' : names.join(',')],
  ]);
}

/** Inputs that depend on others: converts choices with their inputs; leaves open those that grow in a run. */
function addDynamic(machine: Machine, options: Dict, input: Instance, kind: string): void {
  const choices = input.own('options');
  if (kind !== 'DynamicCombo' || choices === undefined || choices instanceof Unknown) {
    options.open ??= 'inputs that grow at run time';
    return;
  }
  const list: Value[] = [];
  for (const choice of machine.iterate(choices)) {
    if (!(choice instanceof Instance)) list.push(new Unknown('an unknown choice'));
    else {
      const inputs = choice.own('inputs') ?? new List();
      list.push(
        dictOf(machine, [
          ['key', choice.own('key') ?? null],
          ['inputs', inputDict(machine, inputs)],
        ]),
      );
    }
  }
  put(machine, options, 'options', new List(list));
}

function withHidden(machine: Machine, inputs: Value, schema: Instance): Value {
  const hidden = schema.own('hidden') ?? null;
  if (!(inputs instanceof Dict)) return inputs;
  const dict = new Dict();
  if (hidden instanceof Unknown) inputs.open ??= hidden.why;
  else if (hidden !== null) {
    for (const entry of machine.iterate(hidden)) addHidden(machine, dict, entry);
  }
  const isApi = flag(machine, schema, 'is_api_node');
  const implied = [
    ...(isApi ? ['auth_token_comfy_org', 'api_key_comfy_org', 'comfy_usage_source'] : []),
    ...(flag(machine, schema, 'is_output_node') ? ['prompt', 'extra_pnginfo'] : []),
  ];
  for (const name of implied)
    if (!dict.entries.has(name)) put(machine, dict, name, new Tuple([name.toUpperCase()]));
  if (dict.entries.size > 0 || dict.open !== undefined) put(machine, inputs, 'hidden', dict);
  return inputs;
}

function addHidden(machine: Machine, dict: Dict, entry: Value): void {
  if (!(entry instanceof Instance)) dict.open ??= 'an unknown hidden input';
  else put(machine, dict, entry.own('name') ?? null, new Tuple([entry.own('value') ?? null]));
}
