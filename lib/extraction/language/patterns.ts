import type { ExprNode, StmtNode } from 'py-ast';
import { isSubclass, lookUp } from '../values/access.ts';
import { typeOf } from '../values/builtin-types.ts';
import { equal } from '../values/equality.ts';
import type { Completion, Frame, Machine } from '../values/machine.ts';
import { Dict, List } from '../values/collections.ts';
import { Tuple, Unknown } from '../values/plain.ts';
import type { Value } from '../values/values.ts';
import { findAttribute } from './attributes.ts';
import { branch } from './branches.ts';
import { writeName } from './names.ts';
import { truth } from './truth.ts';

type Match = Extract<StmtNode, { nodeType: 'Match' }>;
type Pattern = Match['cases'][number]['pattern'];

/** Tries the cases in turn; one that may or may not match is a branch of its own. */
export function runMatch(machine: Machine, { subject, cases }: Match, frame: Frame): Completion {
  const value = machine.evaluate(subject, frame);
  const possible: (() => Completion)[] = [];
  for (const { pattern, guard, body } of cases) {
    const fits = matches(machine, pattern, value, frame);
    const holds =
      fits === false || !guard ? fits : both(fits, truth(machine, machine.evaluate(guard, frame)));
    if (holds === false) continue;
    possible.push(() => machine.execute(body, frame));
    if (holds === true) return possible.length === 1 ? possible[0]?.() : branch(machine, frame, possible);
  }
  return possible.length === 0 ? undefined : branch(machine, frame, [...possible, () => undefined]);
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
      return matchesSequence(machine, pattern.patterns, value, frame);
    case 'MatchMapping':
      return matchesMapping(machine, pattern.keys, pattern.patterns, value, frame);
    case 'MatchClass':
      return matchesClass(machine, pattern, value, frame);
    default:
      return undefined;
  }
}

function matchesSequence(
  machine: Machine,
  patterns: readonly Pattern[],
  value: Value,
  frame: Frame,
): boolean | undefined {
  if (value instanceof Unknown) return undefined;
  if (!(value instanceof List || value instanceof Tuple)) return false;
  const star = patterns.findIndex(({ nodeType }) => nodeType === 'MatchStar');
  const surplus = value.items.length - patterns.length;
  if (star < 0 ? surplus !== 0 : surplus < -1) return false;
  let result: boolean | undefined = true;
  for (const [index, pattern] of patterns.entries()) {
    if (pattern.nodeType === 'MatchStar') {
      const rest = new List(value.items.slice(star, star + surplus + 1));
      if (pattern.name) writeName(machine, pattern.name, rest, frame);
    } else {
      const item = value.items[star >= 0 && index > star ? index + surplus : index] ?? null;
      result = both(result, matches(machine, pattern, item, frame));
    }
  }
  return result;
}

function matchesMapping(
  machine: Machine,
  keys: readonly ExprNode[],
  patterns: readonly Pattern[],
  value: Value,
  frame: Frame,
): boolean | undefined {
  if (value instanceof Unknown) return undefined;
  if (!(value instanceof Dict)) return false;
  let result: boolean | undefined = true;
  for (const [index, node] of keys.entries()) {
    const found = lookUp(machine, value, machine.evaluate(node, frame));
    const pattern = patterns[index];
    if (found === undefined || !pattern) return false;
    result = both(result, matches(machine, pattern, found, frame));
  }
  return result;
}

function matchesClass(
  machine: Machine,
  pattern: Extract<Pattern, { nodeType: 'MatchClass' }>,
  value: Value,
  frame: Frame,
): boolean | undefined {
  const cls = machine.evaluate(pattern.cls, frame);
  if (value instanceof Unknown) return undefined;
  let result = isSubclass(machine, typeOf(value), cls);
  for (const [index, name] of pattern.kwd_attrs.entries()) {
    const part = pattern.kwd_patterns[index];
    const found = result === false ? undefined : findAttribute(machine, value, name);
    if (found === undefined || !part) return false;
    result = both(result, matches(machine, part, found, frame));
  }
  const [only] = pattern.patterns;
  return only && result !== false ? both(result, matches(machine, only, value, frame)) : result;
}
