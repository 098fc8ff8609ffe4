import type { Template } from '../plugins/framework.ts';
import { parameters, type Values } from './parameters.ts';

/*
 * A deployment writes its parameters into the metadata of its template, so CloudFormation rolls both back
 * together. The next deployment compares its own with them before it sends anything. Secrets are references.
 */
const key = 'NodeRegistryParameters';

export function remember(template: Template, given: Values): void {
  template.Metadata = { ...template.Metadata, [key]: given };
}

/** The parameters that a stack was deployed with. A stack without functions was never deployed as a whole. */
export function rememberedIn({ Metadata, Resources }: Template): Values | 'none' | 'unknown' {
  const remembered = Metadata?.[key];
  if (remembered !== undefined) return remembered as Values;
  return Object.values(Resources).some(({ Type }) => Type === 'AWS::Lambda::Function') ? 'unknown' : 'none';
}

/** What a deployment with other parameters would change, in sentences. */
export function changesBetween(before: Values, now: Values, defaults: Values): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return names.flatMap((name) => {
    const [then, next] = [before, now].map((values) => values[name] || defaults[name] || '');
    // The purpose of this one is to change.
    if (name === 'restart' || then === next) return [];
    if (!(name in parameters)) return [`${name}, which this release doesn't know, would fall away: ${then}`];
    if (!now[name]) return [`${name} would fall away: ${then}`];
    return [`${name} would be ${next}, and was ${then || 'not given'}`];
  });
}
