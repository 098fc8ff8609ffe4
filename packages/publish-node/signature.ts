interface HostNode {
  input_types?: string | undefined;
  return_types?: string | undefined;
  return_names?: string | undefined;
}

const maxShown = 12;

/** What a host node takes and returns, in a line each. Its texts are JSON of a stranger. */
export function signatureOf({ input_types, return_types, return_names }: HostNode): string[] {
  const { required, optional } = fieldsOf(input_types) as Record<string, unknown>;
  const inputs = [
    ...Object.entries(Object(required)).map(([name, spec]) => `${name} ${typeOf(spec)}`),
    ...Object.entries(Object(optional)).map(([name, spec]) => `${name}? ${typeOf(spec)}`),
  ];
  const names = listOf(return_names);
  const outputs = listOf(return_types).map((type, at) => {
    const shown = textOf(type);
    return names[at] === undefined || names[at] === type ? shown : `${textOf(names[at])} ${shown}`;
  });
  return [
    ...(input_types === undefined ? [] : [`takes ${shortList(inputs)}`]),
    ...(return_types === undefined ? [] : [`returns ${shortList(outputs)}`]),
  ];
}

/** `["IMAGE", {…}]`, or a list of choices in the place of the type. */
function typeOf(spec: unknown): string {
  const type = Array.isArray(spec) ? spec[0] : spec;
  return Array.isArray(type) ? `one of ${type.length}` : textOf(type);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '?';
}

function shortList(items: readonly string[]): string {
  const more = items.length > maxShown ? `, and ${items.length - maxShown} more` : '';
  return items.length === 0 ? 'nothing' : `${items.slice(0, maxShown).join(', ')}${more}`;
}

function listOf(json: string | undefined): unknown[] {
  const value = fieldsOf(json);
  return Array.isArray(value) ? value : [];
}

function fieldsOf(json: string | undefined): object {
  try {
    return Object(JSON.parse(json ?? ''));
  } catch {
    return {};
  }
}
