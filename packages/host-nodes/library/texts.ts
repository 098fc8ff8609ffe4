import { limits } from '../limits.ts';
import { asText, dictOf, plain } from '../values/access.ts';
import { addMethods, matchType, patternType } from '../values/builtin-types.ts';
import { Dict, type Keywords, List, type Machine, type Value } from '../values/values.ts';
import { Instance, type NativeCall } from '../values/objects.ts';
import { Tuple, Unknown } from '../values/plain.ts';
import { argument, type Models, natives } from './define.ts';
import { find, type Found } from './pattern-matching.ts';
import { NotFollowed, parsePattern, type Pattern } from './pattern-syntax.ts';

const unknown = () => new Unknown('a pattern that is not followed');

const trees = new WeakMap<Instance, Pattern>();

function isPattern(value: Value): value is Instance {
  return value instanceof Instance && value.cls === patternType;
}

function compiled(pattern: Value, flags: Value = 0n): Value {
  const text = asText(pattern);
  const bits = plain(flags);
  if (text === undefined || text.length > limits.patternCharacters || typeof bits !== 'bigint')
    return unknown();
  if ((bits & 64n) !== 0n) return unknown();
  const made = new Instance(patternType, text);
  made.define('pattern', text);
  try {
    const how = {
      ignoreCase: (bits & 2n) !== 0n,
      multiline: (bits & 8n) !== 0n,
      dotAll: (bits & 16n) !== 0n,
    };
    trees.set(made, parsePattern(text, how));
    return made;
  } catch (error) {
    if (error instanceof NotFollowed) return unknown();
    throw error;
  }
}

type Search = (pattern: Pattern, text: string, machine: Machine, rest: Value[], keywords: Keywords) => Value;

function onText(search: Search, position = 0): NativeCall {
  return (machine, [self, ...rest], keywords) => {
    const pattern = self instanceof Instance ? trees.get(self) : undefined;
    const text = asText(rest[position]);
    if (!pattern || text === undefined || text.length > limits.matchedCharacters) return unknown();
    machine.budget.text(text.length);
    return search(pattern, text, machine, rest, keywords);
  };
}

function matchOf(machine: Machine, pattern: Pattern, text: string, found: Found | undefined): Value {
  if (!found) return null;
  const match = new Instance(matchType);
  machine.budget.read(found.reduce((total, span) => total + 2 * (span?.[1] ?? 0), 0));
  match.define('groups_', new Tuple(found.map((span) => (span ? text.slice(...span) : null))));
  match.define(
    'names_',
    dictOf(
      machine,
      [...pattern.names].map(([name, index]) => [name, BigInt(index)]),
    ),
  );
  match.define('string', text);
  return match;
}

function* findAll(machine: Machine, pattern: Pattern, text: string): Generator<Found> {
  for (let from = 0; from <= text.length; ) {
    const found = find(pattern, text, from, (steps) => machine.budget.spend(steps));
    if (!found?.[0]) return;
    yield found;
    const [start, end] = found[0];
    from = end > start ? end : end + 1;
  }
}

const first = (anchored: boolean) =>
  onText((pattern, text, machine) =>
    matchOf(
      machine,
      pattern,
      text,
      find(pattern, text, 0, (steps) => machine.budget.spend(steps), { anchored }),
    ),
  );

const methods: Record<string, NativeCall> = {
  search: first(false),
  match: first(true),
  findall: onText((pattern, text, machine) => {
    const rows = [...findAll(machine, pattern, text)].map((found) => {
      const [whole = '', ...groups] = found.map((span) => (span ? text.slice(...span) : ''));
      return groups.length === 0 ? whole : groups.length === 1 ? (groups[0] ?? '') : new Tuple(groups);
    });
    return new List(rows);
  }),
  split: onText((pattern, text, machine, [, most], keywords) => {
    const limit = Number(keywords.get('maxsplit') ?? most ?? 0n) || Infinity;
    const parts: Value[] = [];
    let from = 0;
    let count = 0;
    for (const [whole, ...groups] of findAll(machine, pattern, text)) {
      if (!whole || count >= limit) break;
      parts.push(text.slice(from, whole[0]), ...groups.map((span) => (span ? text.slice(...span) : null)));
      from = whole[1];
      count += 1;
    }
    return new List([...parts, text.slice(from)]);
  }),
  sub: onText((pattern, text, machine, [replacement = null, , most], keywords) => {
    const limit = Number(keywords.get('count') ?? most ?? 0n) || Infinity;
    const template = asText(replacement);
    const replaced = (found: Found) => {
      if (template === undefined)
        return asText(machine.call(replacement, [matchOf(machine, pattern, text, found)]));
      machine.budget.read(template.length);
      return template.replaceAll(/\\(?:g<(\w{1,40})>|(\d)|(n))/g, (_, long, short, line) => {
        if (line) return '\n';
        const span = found[pattern.names.get(long) ?? Number(long ?? short)];
        return span ? text.slice(...span) : '';
      });
    };
    let [result, from, count] = ['', 0, 0];
    for (const found of findAll(machine, pattern, text)) {
      const [whole] = found;
      if (!whole || count >= limit) break;
      const part = replaced(found);
      if (part === undefined) return unknown();
      result += text.slice(from, whole[0]) + part;
      machine.budget.text(part.length, result.length);
      from = whole[1];
      count += 1;
    }
    return result + text.slice(from);
  }, 1),
};

function part(name: string, self: Value | undefined, key: Value = 0n): Value {
  if (!(self instanceof Instance)) return unknown();
  const names = self.own('names_') ?? null;
  const parts = self.own(name);
  const text = asText(key);
  const index =
    text === undefined ? plain(key) : names instanceof Dict ? names.entries.get(text)?.value : undefined;
  return parts instanceof Tuple && typeof index === 'bigint'
    ? (parts.items[Number(index)] ?? null)
    : unknown();
}

addMethods(patternType, methods);
addMethods(matchType, {
  group: (_, [self, ...keys]) =>
    keys.length > 1
      ? new Tuple(keys.map((key) => part('groups_', self, key)))
      : part('groups_', self, keys[0]),
  __getitem__: (_, [self, key]) => part('groups_', self, key),
  groups: (_, [self]) => {
    const groups = self instanceof Instance ? self.own('groups_') : undefined;
    return groups instanceof Tuple ? new Tuple(groups.items.slice(1)) : unknown();
  },
});

const functions = Object.entries(methods).map(([name, run]): [string, NativeCall] => [
  name,
  (machine, [pattern = null, ...rest], keywords) => {
    const flags = keywords.get('flags') ?? rest[name === 'sub' ? 3 : 1];
    return run(machine, [isPattern(pattern) ? pattern : compiled(pattern, flags), ...rest], keywords);
  },
]);
const flags: Models = Object.entries({ IGNORECASE: 2n, MULTILINE: 8n, DOTALL: 16n }).flatMap(
  ([name, bit]): Models => [
    [`re.${name}`, bit],
    [`re.${name === 'DOTALL' ? 'S' : name.charAt(0)}`, bit],
  ],
);

/** `re`, matched step by step: unknown for long inputs and for features that pattern-syntax.ts lacks. */
export const textModels: Models = [
  ...natives('re', {
    compile: (_, args, keywords) => compiled(args[0] ?? null, argument(args, keywords, 1, 'flags')),
    ...Object.fromEntries(functions),
  }),
  ...flags,
];
