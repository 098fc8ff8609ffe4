import type { StmtNode } from 'py-ast';
import { asText, discard, isSubclass, lookUp, plain } from '../values/access.ts';
import { typeOf } from '../values/builtin-types.ts';
import { contains, equal } from '../values/equality.ts';
import type { Completion, Frame, Machine } from '../values/machine.ts';
import { Class } from '../values/objects.ts';
import { isCounted, Tuple, Unknown } from '../values/plain.ts';
import { Dict, List, type Value } from '../values/values.ts';
import { findAttribute } from './attributes.ts';
import { branch } from './branches.ts';
import { writeName } from './names.ts';
import { truth } from './truth.ts';

type Match = Extract<StmtNode, { nodeType: 'Match' }>;
type Pattern = Match['cases'][number]['pattern'];

/** Tries the cases in turn; a case that may or may not match becomes a branch. */
export function runMatch(machine: Machine, { subject, cases }: Match, frame: Frame): Completion {
  const value = machine.evaluate(subject, frame);
  const possible: (() => Completion)[] = [];
  for (const { pattern, guard, body } of cases) {
    const fits = matches(machine, pattern, value, frame);
    const holds =
      fits === false || !guard ? fits : both(fits, truth(machine, machine.evaluate(guard, frame)));
    if (holds === false) continue;
    possible.push(() => {
      // Another case may have captured the same name.
      matches(machine, pattern, value, frame);
      return machine.execute(body, frame);
    });
    if (holds === true) return branch(machine, possible);
  }
  return possible.length === 0 ? undefined : branch(machine, [...possible, () => undefined]);
}

function both(left: boolean | undefined, right: boolean | undefined): boolean | undefined {
  if (left === false || right === false) return false;
  return left === true && right === true ? true : undefined;
}

function matches(machine: Machine, pattern: Pattern, value: Value, frame: Frame): boolean | undefined {
  machine.budget.spend();
  switch (pattern.nodeType) {
    case 'MatchValue':
      return equal(machine, machine.evaluate(pattern.value, frame), value);
    case 'MatchSingleton':
      return value instanceof Unknown ? undefined : value === (pattern.value as Value);
    case 'MatchAs': {
      const fits = pattern.pattern ? matches(machine, pattern.pattern, value, frame) : true;
      if (pattern.name && fits !== false) writeName(machine, pattern.name, value, frame);
      return fits;
    }
    case 'MatchOr': {
      const answers = pattern.patterns.map((part) => matches(machine, part, value, frame));
      if (answers.includes(true)) return true;
      return answers.includes(undefined) ? undefined : false;
    }
    case 'MatchSequence':
      return matchesItems(machine, pattern, plain(value), frame);
    case 'MatchMapping':
      return matchesEntries(machine, pattern, plain(value), frame);
    case 'MatchClass':
      return matchesObject(machine, pattern, value, frame);
    default:
      if (pattern.name) writeName(machine, pattern.name, value, frame);
      return true;
  }
}

type Kind<Name extends Pattern['nodeType']> = Extract<Pattern, { nodeType: Name }>;
const part = new Unknown('a part of what is matched');

/** Whether all parts fit. Parts of an unknown value are unknown, and still bind their names. */
function all(
  machine: Machine,
  frame: Frame,
  patterns: readonly Pattern[],
  isKnown: boolean,
  read: (index: number) => Value | undefined,
): boolean | undefined {
  return patterns
    .map((pattern, index) => [pattern, isKnown ? read(index) : part] as const)
    .map(([pattern, value]) => value !== undefined && matches(machine, pattern, value, frame))
    .reduce<boolean | undefined>(both, isKnown || undefined);
}

function matchesItems(machine: Machine, { patterns }: Kind<'MatchSequence'>, value: Value, frame: Frame) {
  const isSequence = value instanceof List || value instanceof Tuple;
  if (!isSequence && !(value instanceof Unknown)) return false;
  const items = isSequence && isCounted(machine, value.items) ? value.items : undefined;
  const star = patterns.findIndex(({ nodeType }) => nodeType === 'MatchStar');
  const surplus = (items?.length ?? 0) - patterns.length;
  if (items && (star < 0 ? surplus !== 0 : surplus < -1)) return false;
  return all(machine, frame, patterns, items !== undefined, (at) =>
    at === star
      ? new List(items?.slice(star, star + surplus + 1))
      : items?.[star >= 0 && at > star ? at + surplus : at],
  );
}

function matchesEntries(machine: Machine, pattern: Kind<'MatchMapping'>, value: Value, frame: Frame) {
  const isDict = value instanceof Dict;
  if (!isDict && !(value instanceof Unknown)) return false;
  const keys = pattern.keys.map((key) => machine.evaluate(key, frame));
  const rest = isDict ? machine.call(machine.attribute(value, 'copy')) : part;
  if (rest instanceof Dict) for (const key of keys) discard(machine, rest, key);
  if (pattern.rest) writeName(machine, pattern.rest, rest, frame);
  const isSure = isDict && keys.every((key) => contains(machine, value, key) !== undefined);
  const read = (at: number) => (isDict ? lookUp(machine, value, keys[at] ?? null) : part);
  return both(isSure || undefined, all(machine, frame, pattern.patterns, isDict, read));
}

/** `__match_args__` names the positional parts; for a built-in type, the part is the value itself. */
function matchesObject(machine: Machine, pattern: Kind<'MatchClass'>, value: Value, frame: Frame) {
  const { patterns, kwd_patterns, kwd_attrs } = pattern;
  const cls = machine.evaluate(pattern.cls, frame);
  const isIt = value instanceof Unknown ? undefined : isSubclass(machine, typeOf(value), cls);
  if (isIt === false) return false;
  const named = cls instanceof Class ? cls.find('__match_args__') : undefined;
  const names = [...patterns.map((_, at) => (named instanceof Tuple ? named.items[at] : null)), ...kwd_attrs];
  const isWhole = cls instanceof Class && cls.builtin;
  const isKnown = isIt === true && (isWhole || named instanceof Tuple || patterns.length === 0);
  return all(machine, frame, [...patterns, ...kwd_patterns], isKnown, (at) =>
    isWhole && at < patterns.length ? value : findAttribute(machine, value, asText(names[at]) ?? ''),
  );
}
