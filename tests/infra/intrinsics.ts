import type { Part } from '../../infra/plugins/references.ts';

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
