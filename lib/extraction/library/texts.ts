import { limits } from '../limits.ts';
import { asText, plain } from '../values/access.ts';
import { addMethods, matchType, patternType } from '../values/builtin-types.ts';
import type { Machine } from '../values/machine.ts';
import { Func, Instance, List, type NativeCall, Tuple, Unknown, type Value } from '../values/values.ts';
import { type Models, natives } from './define.ts';

/**
 * `re`. The pack's patterns run as native regular expressions only where they cannot take exponential time: short
 * pattern, short text, at most two open quantifiers, no quantified group and no reference back. Everything else is
 * unknown.
 */
export function textModels(): Models {
  const functions: Record<string, NativeCall> = {
    compile: (_, [pattern = null]) => compiled(pattern),
    escape: (_, [text]) => asText(text)?.replaceAll(/[^\w]/g, (character) => `\\${character}`) ?? unknown(),
  };
  for (const [name, run] of Object.entries(methods)) {
    functions[name] = (machine, [pattern = null, ...rest], keywords) =>
      run(machine, [pattern instanceof Instance ? pattern : compiled(pattern), ...rest], keywords);
  }
  const flags: Models = ['I', 'IGNORECASE', 'M', 'MULTILINE', 'S', 'DOTALL', 'X', 'VERBOSE', 'U', 'UNICODE'].map((name) => [`re.${name}`, new Unknown('a flag')]);
  return [...natives('re', functions), ...flags];
}

function unknown(): Unknown {
  return new Unknown('a pattern that is not followed');
}

/** A group that is repeated, a reference back, a look aside. */
const repeatedGroup = /\)[*+?{]/;
const backReference = /\\[1-9]|\(\?[^:]/;

/** Whether backtracking stays polynomial of low degree: few quantifiers, few alternatives, nothing nested. */
function isBounded(pattern: string): boolean {
  if (pattern.length > limits.patternCharacters || backReference.test(pattern)) return false;
  const bare = pattern
    .replaceAll(/\\./g, 'x')
    .replaceAll(/\[\^?\]?[^\]]*\]/g, 'x')
    .replaceAll('(?:', '(')
    .replaceAll(/([*+?}])\?/g, '$1');
  const open = bare.match(/[*+]|\{\d*,\}/g)?.length ?? 0;
  const bounded = bare.match(/\?|\{\d*,\d+\}/g)?.length ?? 0;
  const alternatives = bare.match(/\|/g)?.length ?? 0;
  return open <= 2 && open + bounded <= 4 && alternatives <= 10 && !repeatedGroup.test(bare);
}

function compiled(pattern: Value): Value {
  const text = asText(pattern);
  if (text === undefined || !isBounded(text)) return unknown();
  const made = new Instance(patternType, text);
  made.define('pattern', text);
  return expressionOf(made) ? made : unknown();
}

/** Python's spelling of what JavaScript writes otherwise. */
function expressionOf(pattern: Value | undefined): RegExp | undefined {
  const text = pattern instanceof Instance && pattern.cls === patternType ? asText(pattern.payload) : undefined;
  if (text === undefined) return undefined;
  try {
    return new RegExp(text.replaceAll('\\Z', '$').replaceAll('\\A', '^'), 'dgu');
  } catch {
    return undefined;
  }
}

type Search = (expression: RegExp, text: string, machine: Machine, rest: Value[]) => Value;

function onText(search: Search, position = 0): NativeCall {
  return (machine, [pattern, ...rest]) => {
    const expression = expressionOf(pattern);
    const text = asText(plain(rest[position] ?? null));
    if (!expression || text === undefined || text.length > limits.matchedCharacters) return unknown();
    machine.budget.spend(text.length);
    return search(expression, text, machine, rest);
  };
}

function matchOf(found: RegExpExecArray | null): Value {
  if (!found) return null;
  const match = new Instance(matchType);
  match.define('groups_', new Tuple([...found].map((group) => group ?? null)));
  match.define('start_', BigInt(found.index));
  return match;
}

const methods: Record<string, NativeCall> = {
  search: onText((expression, text) => matchOf(expression.exec(text))),
  match: onText((expression, text) => matchOf(new RegExp(expression.source, 'duy').exec(text))),
  fullmatch: onText((expression, text) => matchOf(new RegExp(`^(?:${expression.source})$`, 'du').exec(text))),
  findall: onText((expression, text) =>
    new List([...text.matchAll(expression)].map(([whole, ...groups]) =>
      groups.length === 0 ? whole : groups.length === 1 ? (groups[0] ?? '') : new Tuple(groups.map((group) => group ?? '')))),
  ),
  finditer: onText((expression, text) => new List([...text.matchAll(expression)].map((found) => matchOf(found)))),
  split: onText((expression, text) => new List(text.split(expression).map((part) => part ?? null))),
  sub: onText((expression, text, machine, [replacement = null]) => {
    let isKnown = true;
    const result = text.replaceAll(expression, (...found) => {
      const groups = found.slice(0, found.findIndex((part) => typeof part === 'number'));
      const part = replaced(machine, replacement, groups);
      if (part === undefined) isKnown = false;
      return part ?? '';
    });
    return isKnown ? result : unknown();
  }, 1),
};

function replaced(machine: Machine, replacement: Value, groups: (string | undefined)[]): string | undefined {
  const template = asText(replacement);
  if (template !== undefined) {
    return template.replaceAll(/\\(?:g<(\d{1,2})>|(\d))/g, (_, long, short) => groups[Number(long ?? short)] ?? '');
  }
  if (!(replacement instanceof Func)) return undefined;
  const match = new Instance(matchType);
  match.define('groups_', new Tuple(groups.map((group) => group ?? null)));
  return asText(machine.call(replacement, [match]));
}

addMethods(patternType, methods);
addMethods(matchType, {
  group: (_, [self, index = 0n]) => {
    const groups = self instanceof Instance ? self.own('groups_') : undefined;
    return groups instanceof Tuple && typeof index === 'bigint' ? (groups.items[Number(index)] ?? null) : unknown();
  },
  groups: (_, [self]) => {
    const groups = self instanceof Instance ? self.own('groups_') : undefined;
    return groups instanceof Tuple ? new Tuple(groups.items.slice(1)) : unknown();
  },
  start: (_, [self]) => (self instanceof Instance ? (self.own('start_') ?? unknown()) : unknown()),
  end: () => unknown(),
});

