import type { Part, Template } from './packaging.ts';

const pseudoParameters = /^AWS::/;

/** Every name that one part of a template uses for another: resources, and conditions as `condition:<name>`. */
export function referencesOf({ Resources, Conditions, Outputs }: Template): string[] {
  const found = [...references(Conditions), ...references(Outputs)];
  for (const { DependsOn, Condition, ...resource } of Object.values(Resources)) {
    found.push(...[DependsOn ?? []].flat(), ...references(resource));
    if (Condition) found.push(`condition:${Condition}`);
  }
  return [...new Set(found)].filter((name) => !pseudoParameters.test(name));
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
  // A policy statement has a condition too, but that is an object.
  if (key === 'Condition' && typeof value === 'string') return [`condition:${value}`];
  if (key !== 'Fn::Sub') return [];
  const [text, own = {}] = Array.isArray(value) ? value : [value];
  const names = [...text.matchAll(/\$\{([\w:]+)[^}]*\}/g)].map(([, name]) => String(name));
  return names.filter((name) => !(name in own));
}

/** An intrinsic function as text, near enough to the short forms that people write. */
export function asText(part: Part): string {
  if (typeof part === 'string') return part;
  const [key, value] = Object.entries<Part>(part)[0] ?? [];
  if (key === 'Ref') return `\${${value}}`;
  if (key === 'Fn::GetAtt') return `\${${value.join('.')}}`;
  if (key === 'Fn::Select') return String(asList(value[1])[value[0]]);
  if (key !== 'Fn::Sub') return JSON.stringify(part);
  const [text, own = {}] = Array.isArray(value) ? value : [value];
  return Object.entries(own).reduce((whole, [name, it]) => whole.replace(`\${${name}}`, asText(it)), text);
}

function asList({ 'Fn::Split': [separator, text] }: Part): string[] {
  return text.split(separator);
}

/** Whether a condition of the template holds: a stage's parameters stand in it, so nothing is left to be known. */
export function holds({ Conditions }: Template, name: string): boolean {
  return truth(Conditions[name]);
}

function truth(condition: Part): boolean {
  const [key, value] = Object.entries<Part>(condition)[0] ?? [];
  if (key === 'Fn::Not') return !truth(value[0]);
  if (key === 'Fn::Equals') return asText(value[0]) === asText(value[1]);
  throw new Error(`The tests do not know ${key}.`);
}
