/** A part of a template: text, numbers, lists and objects. An object with one key may be an intrinsic function. */
// biome-ignore lint/suspicious/noExplicitAny: CloudFormation nests freely
export type Part = any;

const pseudoParameters = /^AWS::/;

/** Every name by which a part of a template refers to another: resources, and `condition:<name>`. */
export function referencesOf(part: Part): string[] {
  return [...new Set(references(part))].filter((name) => !pseudoParameters.test(name));
}

function references(part: Part): string[] {
  if (Array.isArray(part)) return part.flatMap(references);
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([key, value]) => [...direct(key, value), ...references(value)]);
}

function direct(key: string, value: Part): string[] {
  if (key === 'Ref') return [value];
  if (key === 'Fn::GetAtt') return [String(Array.isArray(value) ? value[0] : value.split('.')[0])];
  if (key === 'Fn::If') return [`condition:${value[0]}`];
  // A policy statement also has a condition, but that is an object.
  if (key === 'Condition' && typeof value === 'string') return [`condition:${value}`];
  if (key !== 'Fn::Sub') return [];
  const [text, own = {}] = Array.isArray(value) ? value : [value];
  const names = [...text.matchAll(/\$\{([\w:]+)[^}]*\}/g)].map(([, name]) => String(name));
  return names.filter((name) => !(name in own));
}
