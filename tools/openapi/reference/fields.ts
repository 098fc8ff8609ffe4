/** A JSON Schema, as far as the document uses it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  default?: unknown;
  deprecated?: boolean;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  [limit: string]: unknown;
}

interface Field {
  type: { text: string; schema?: string | undefined };
  /** Limits, choices and the default, in words. */
  notes: string[];
  /** An object without a name, whose fields stand where it does. */
  nested?: Schema | undefined;
}

const limits: Record<string, (value: unknown) => string> = {
  minimum: (value) => `at least ${value}`,
  maximum: (value) => `at most ${value}`,
  minLength: (value) => `at least ${value} characters`,
  maxLength: (value) => `at most ${value} characters`,
  minItems: (value) => `at least ${value} items`,
  maxItems: (value) => `at most ${value} items`,
};

/** What a reader needs to know of a field next to its description. */
export function describeField(field: Schema): Field {
  const choices = field.enum?.filter((value) => value !== null).join(', ');
  return {
    type: typeOf(field),
    notes: [
      ...Object.entries(limits).flatMap(([name, say]) =>
        field[name] === undefined ? [] : [say(field[name])],
      ),
      ...(choices ? [`one of ${choices}`] : []),
      ...(field.default === undefined ? [] : [`default ${JSON.stringify(field.default)}`]),
      ...(field.deprecated ? ['deprecated'] : []),
    ],
    nested: field.properties ? field : field.items?.properties && field.items,
  };
}

/** The name of the schema that a reference leads to. */
export function schemaName({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1);
}

function typeOf(field: Schema): Field['type'] {
  const variant = field.anyOf?.find(({ type }) => type !== 'null');
  if (variant) return typeOf(variant);
  if (field.items) {
    const { text, schema } = typeOf(field.items);
    return { text: `${text}[]`, schema };
  }
  const schema = schemaName(field);
  if (schema) return { text: '', schema };
  const types = [field.type ?? 'anything'].flat().filter((type) => type !== 'null');
  return { text: types.join(' or ') + (field.format ? ` (${field.format})` : '') };
}
