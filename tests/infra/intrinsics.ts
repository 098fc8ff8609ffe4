import type { Part } from '../../infra/plugins/references.ts';

/** A part of a template with its intrinsic functions as text, near enough to the short forms that people write. */
export function plain(part: Part): Part {
  if (Array.isArray(part)) return part.map(plain);
  if (typeof part !== 'object' || part === null) return part;
  const [key, value] = Object.entries<Part>(part)[0] ?? [];
  if (key === 'Ref') return `\${${value}}`;
  if (key === 'Fn::GetAtt') return `\${${value.join('.')}}`;
  if (key === 'Fn::Split') return plain(value[1]).split(value[0]);
  if (key === 'Fn::Join') return value[1].map(plain).join(value[0]);
  if (key !== 'Fn::Sub')
    return Object.fromEntries(Object.entries(part).map(([name, it]) => [name, plain(it)]));
  const [text, own = {}] = Array.isArray(value) ? value : [value];
  return Object.entries(own).reduce((whole, [name, it]) => whole.replace(`\${${name}}`, plain(it)), text);
}

/** The same of what is text once its intrinsic functions are. */
export function asText(part: Part): string {
  const it = plain(part);
  return typeof it === 'string' ? it : JSON.stringify(it);
}
