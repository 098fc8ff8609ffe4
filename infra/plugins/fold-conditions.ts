import type { Resource, Template } from './framework.ts';
import type { Part } from './references.ts';

/**
 * Keeps only the parts of a template that the stage has. A disabled part need not be deployed as a branch
 * with empty names: CloudFormation's rules find errors in those.
 */
export function foldConditions(template: Template, conditions: Record<string, boolean>): void {
  const holds = (name: string) => {
    const isOn = conditions[name];
    if (isOn === undefined) throw new Error(`Nothing decides the condition ${name}.`);
    return isOn;
  };
  const isKept = (part: { Condition?: string }) => part.Condition === undefined || holds(part.Condition);
  template.Resources = folded(keep(template.Resources, isKept), holds);
  template.Outputs = folded(keep(template.Outputs, isKept), holds);
  for (const resource of Object.values(template.Resources)) keepDependencies(resource, template);
}

function keep<T extends { Condition?: string }>(parts: Record<string, T>, isKept: (part: T) => boolean) {
  const kept = Object.entries(parts).filter(([, part]) => isKept(part));
  return Object.fromEntries(kept.map(([name, { Condition: _, ...part }]) => [name, part as T]));
}

function keepDependencies(resource: Resource, { Resources }: Template): void {
  const existing = [resource.DependsOn ?? []].flat().filter((name) => name in Resources);
  if (existing.length > 0) resource.DependsOn = existing;
  else delete resource.DependsOn;
}

const nothing = Symbol('AWS::NoValue');

function folded(part: Part, holds: (name: string) => boolean): Part {
  if (Array.isArray(part)) return part.map((item) => folded(item, holds)).filter((item) => item !== nothing);
  if (typeof part !== 'object' || part === null) return part;
  if (part.Ref === 'AWS::NoValue') return nothing;
  const choice = part['Fn::If'];
  if (choice) return folded(holds(choice[0]) ? choice[1] : choice[2], holds);
  const entries = Object.entries(part).map(([key, value]) => [key, folded(value, holds)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== nothing));
}
