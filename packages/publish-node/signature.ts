import {
  choicesOf,
  type ExtractedFields,
  hasMoreChoices,
} from '@node-registry/registry-rules/host-node-entries';

type Types = {
  [Field in 'input_types' | 'return_types' | 'return_names' | 'left_open']?:
    | ExtractedFields[Field]
    | undefined;
};

const maxShown = 12;

/** The inputs and outputs of a host node, in a line each. Its texts are a stranger's JSON. */
export function signatureOf({ input_types, return_types, return_names, left_open }: Types): string[] {
  const { required, optional } = parsed(input_types);
  const isCut = (group: string, name: string) => hasMoreChoices(left_open ?? [], group, name);
  const inputs = [
    ...Object.entries(Object(required)).map(
      ([name, spec]) => `${name} ${typeOf(spec, isCut('required', name))}`,
    ),
    ...Object.entries(Object(optional)).map(
      ([name, spec]) => `${name}? ${typeOf(spec, isCut('optional', name))}`,
    ),
  ];
  const names = listIn(return_names);
  const outputs = listIn(return_types).map((type, at) =>
    names[at] === undefined || names[at] === type ? textOf(type) : `${textOf(names[at])} ${textOf(type)}`,
  );
  return [
    ...(input_types ? [`takes ${shortList(inputs)}`] : []),
    ...(return_types ? [`returns ${shortList(outputs)}`] : []),
  ];
}

/** `["IMAGE", {…}]`, or its choices. */
function typeOf(spec: unknown, isCut: boolean): string {
  const choices = choicesOf(spec);
  if (!choices) return textOf(Array.isArray(spec) ? spec[0] : spec);
  return choices.length === 0 ? 'one of a list' : `one of ${isCut ? 'at least ' : ''}${choices.length}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '?';
}

function shortList(items: readonly string[]): string {
  const more = items.length > maxShown ? `, and ${items.length - maxShown} more` : '';
  return items.length === 0 ? 'nothing' : `${items.slice(0, maxShown).join(', ')}${more}`;
}

function listIn(json: string | null | undefined): unknown[] {
  const value: unknown = parsed(json);
  return Array.isArray(value) ? value : [];
}

function parsed(json: string | null | undefined): Record<string, unknown> {
  try {
    return Object(JSON.parse(json ?? ''));
  } catch {
    return {};
  }
}
