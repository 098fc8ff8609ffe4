import type { StmtNode } from 'py-ast';
import { asText, isSubclass, lookUp, plain } from '../values/access.ts';
import { typeOf } from '../values/builtin-types.ts';
import { contains, equal } from '../values/equality.ts';
import type { Completion, Frame, Machine } from '../values/machine.ts';
import { Dict, List } from '../values/collections.ts';
import { Class } from '../values/objects.ts';
import { Several, Tuple, Unknown } from '../values/plain.ts';
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
      return matchesSequence(machine, pattern.patterns, value, frame);
    case 'MatchMapping':
      return matchesMapping(machine, pattern, value, frame);
    case 'MatchClass':
      return matchesClass(machine, pattern, value, frame);
    case 'MatchStar':
      if (pattern.name) writeName(machine, pattern.name, value, frame);
      return true;
  }
}

type Parts = [pattern: Pattern | undefined, value: Value | undefined][];

/** Whether each part fits; an absent one does not. Names are bound in what may fit. */
function matchesAll(machine: Machine, parts: Parts, frame: Frame): boolean | undefined {
  let result: boolean | undefined = true;
  for (const [pattern, value] of parts) {
    if (!pattern || value === undefined) return false;
    result = both(result, matches(machine, pattern, value, frame));
  }
  return result;
}

/** Of something unknown all parts are. */
function mayMatch(machine: Machine, patterns: readonly Pattern[], value: Value, frame: Frame): undefined {
  const part = new Unknown(value instanceof Unknown ? value.why : 'an unknown part');
  for (const pattern of patterns) matches(machine, pattern, part, frame);
}

function matchesSequence(
  machine: Machine,
  patterns: readonly Pattern[],
  value: Value,
  frame: Frame,
): boolean | undefined {
  if (value instanceof Unknown) return mayMatch(machine, patterns, value, frame);
  if (!(value instanceof List || value instanceof Tuple)) return false;
  machine.budget.read(value.items.length);
  const several = value.items.find((item) => item instanceof Several);
  if (several !== undefined) return mayMatch(machine, patterns, several, frame);
  const star = patterns.findIndex(({ nodeType }) => nodeType === 'MatchStar');
  const surplus = value.items.length - patterns.length;
  if (star < 0 ? surplus !== 0 : surplus < -1) return false;
  const parts = patterns.map((pattern, index): Parts[number] => {
    if (index === star) return [pattern, new List(value.items.slice(star, star + surplus + 1))];
    return [pattern, value.items[star >= 0 && index > star ? index + surplus : index]];
  });
  return matchesAll(machine, parts, frame);
}

type Of<Kind extends Pattern['nodeType']> = Extract<Pattern, { nodeType: Kind }>;

function matchesMapping(
  machine: Machine,
  { keys, patterns, rest }: Of<'MatchMapping'>,
  value: Value,
  frame: Frame,
): boolean | undefined {
  const dict = plain(value);
  if (!(dict instanceof Dict || dict instanceof Unknown)) return false;
  if (rest) writeName(machine, rest, new Unknown('an unknown part'), frame);
  if (dict instanceof Unknown) return mayMatch(machine, patterns, dict, frame);
  const wanted = keys.map((node) => machine.evaluate(node, frame));
  const fits = matchesAll(
    machine,
    patterns.map((pattern, index) => [pattern, lookUp(machine, dict, wanted[index] ?? null)]),
    frame,
  );
  const isSure = wanted.every((key) => contains(machine, dict, key));
  return fits && !isSure ? undefined : fits;
}

function matchesClass(
  machine: Machine,
  { cls: node, patterns, kwd_attrs: names, kwd_patterns: named }: Of<'MatchClass'>,
  value: Value,
  frame: Frame,
): boolean | undefined {
  const cls = machine.evaluate(node, frame);
  const fits = value instanceof Unknown ? undefined : isSubclass(machine, typeOf(value), cls);
  if (fits === false) return false;
  if (value instanceof Unknown) return mayMatch(machine, [...patterns, ...named], value, frame);
  const ofPosition = cls instanceof Class && !cls.builtin ? cls.find('__match_args__') : new Tuple([]);
  const parts = patterns.map((pattern, index): Parts[number] => {
    const name = ofPosition instanceof Tuple ? asText(ofPosition.items[index]) : undefined;
    if (name !== undefined) return [pattern, findAttribute(machine, value, name)];
    return [pattern, cls instanceof Class && cls.builtin ? value : new Unknown('an unknown part')];
  });
  for (const [index, name] of names.entries())
    parts.push([named[index], findAttribute(machine, value, name)]);
  return both(fits, matchesAll(machine, parts, frame));
}
