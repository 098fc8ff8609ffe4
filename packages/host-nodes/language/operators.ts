import { addItem, orderOf, plain } from '../values/access.ts';
import { compare, contains, equal, isNumber, numeric, setOf } from '../values/equality.ts';
import { pathType, raise } from '../values/builtin-types.ts';
import { Dict, type Frame, List, type Machine, PythonSet, type Value } from '../values/values.ts';
import { Class, Func, Instance, methodOf, outsideBase } from '../values/objects.ts';
import { condition, isSame, notImplemented, Tuple, Unknown } from '../values/plain.ts';
import { LimitReached, limits } from '../limits.ts';
import { formatPercent } from '../types/formatting.ts';
import { hostApi } from '../host/names.ts';
import type { ExprNode } from 'py-ast';

/** Each operator of two operands, with the pack's methods for it. */
const methods: Record<string, string> = {
  Add: 'add',
  Sub: 'sub',
  Mult: 'mul',
  Div: 'truediv',
  FloorDiv: 'floordiv',
  Mod: 'mod',
  Pow: 'pow',
  BitOr: 'or',
  BitAnd: 'and',
  BitXor: 'xor',
  LShift: 'lshift',
  RShift: 'rshift',
  MatMult: 'matmul',
};

export function binary(machine: Machine, operator: string, left: Value, right: Value): Value {
  const own = ownMethod(machine, operator, left, right);
  if (own !== undefined) return own;
  const [a, b] = [plain(left), plain(right)];
  if (operator === 'Mod' && typeof a === 'string') return formatPercent(machine, a, right);
  if (a instanceof Unknown) return new Unknown(a.why, a.path);
  if (a instanceof Dict && operator === 'BitOr' && (b instanceof Dict || b instanceof Unknown))
    return merged(machine, a, b);
  if (b instanceof Unknown) return new Unknown(b.why, b.path);
  if (isNumber(a) && isNumber(b)) return arithmetic(operator, numeric(a), numeric(b));
  if (operator === 'Add') return add(machine, a, b);
  if (operator === 'Mult') return repeat(machine, a, b);
  if (operator === 'Div' && left instanceof Instance && left.cls.inherits(pathType))
    return machine.call(machine.attribute(left, 'joinpath'), [right]);
  if (operator === 'BitOr' && (a instanceof Class || b instanceof Class))
    return new Unknown('a union of types');
  if (a instanceof PythonSet && b instanceof PythonSet) return combineSets(machine, operator, a, b);
  // The keys of a dict are a list here.
  if ((a instanceof PythonSet || a instanceof List) && (b instanceof PythonSet || b instanceof List))
    return combineSets(
      machine,
      operator,
      setOf(machine, machine.iterate(a)),
      setOf(machine, machine.iterate(b)),
    );
  const isKnown = outsideBase(left) === undefined && outsideBase(right) === undefined;
  return isKnown ? unsupported() : new Unknown('an operator of a class outside');
}

function unsupported(): never {
  return raise('TypeError', 'unsupported operand types');
}

function ownMethod(machine: Machine, operator: string, left: Value, right: Value): Value | undefined {
  const name = methods[operator];
  for (const [self, other, prefix] of [
    [left, right, ''],
    [right, left, 'r'],
  ] as const) {
    const method = methodOf(self, `__${prefix}${name}__`);
    const answer = method === undefined ? notImplemented : machine.call(method, [self, other]);
    if (answer !== notImplemented) return answer;
  }
  return undefined;
}

function add(machine: Machine, a: Value, b: Value): Value {
  if (typeof a === 'string' && typeof b === 'string') {
    machine.budget.text(a.length + b.length);
    return a + b;
  }
  for (const Kind of [List, Tuple]) {
    if (!(a instanceof Kind && b instanceof Kind)) continue;
    machine.budget.spend(a.items.length + b.items.length);
    return new Kind([...a.items, ...b.items], orderOf(a) ?? orderOf(b));
  }
  return unsupported();
}

function repeat(machine: Machine, a: Value, b: Value): Value {
  const [content, count] = isNumber(a) ? [b, a] : [a, b];
  if (!isNumber(count) || typeof count === 'number') return unsupported();
  const times = Math.max(0, Number(count));
  if (typeof content === 'string') {
    machine.budget.text(content.length * times);
    return content.repeat(times);
  }
  if (!(content instanceof List) && !(content instanceof Tuple)) return unsupported();
  machine.budget.spend(content.items.length * times + 1);
  const items = content.items.length === 0 ? [] : Array.from({ length: times }, () => content.items).flat();
  return content instanceof List ? new List(items, content.order) : new Tuple(items, content.order);
}

/** Updates a copy, so that `|` and `update` share one rule for unknown parts. */
function merged(machine: Machine, a: Dict, b: Dict | Unknown): Value {
  const copy = machine.call(machine.attribute(a, 'copy'));
  machine.call(machine.attribute(copy, 'update'), [b]);
  return copy;
}

export function combineSets(machine: Machine, operator: string, a: PythonSet, b: PythonSet): Value {
  const keeps: Record<string, (key: string) => boolean> = {
    BitOr: () => true,
    BitAnd: (key) => a.entries.has(key) && b.entries.has(key),
    Sub: (key) => a.entries.has(key) && !b.entries.has(key),
    BitXor: (key) => a.entries.has(key) !== b.entries.has(key),
  };
  const keep = keeps[operator];
  if (!keep) return unsupported();
  machine.budget.spend(a.entries.size + b.entries.size);
  const combined = new PythonSet(a.frozen);
  for (const [key, entry] of [...a.entries, ...b.entries]) {
    if (keep(key)) combined.entries.set(key, entry);
    else if (entry.conditional) combined.open ??= condition;
  }
  combined.open ??= a.open ?? b.open;
  return combined;
}

function arithmetic(operator: string, a: number | bigint, b: number | bigint): Value {
  const isWhole = typeof a === 'bigint' && typeof b === 'bigint';
  if (['Div', 'FloorDiv', 'Mod'].includes(operator) && Number(b) === 0)
    return raise('ZeroDivisionError', 'division by zero');
  if (isWhole && integers[operator]) return integers[operator](a, b);
  const run = floats[operator];
  return run ? run(Number(a), Number(b)) : unsupported();
}

const floats: Record<string, (a: number, b: number) => number> = {
  Add: (a, b) => a + b,
  Sub: (a, b) => a - b,
  Mult: (a, b) => a * b,
  Div: (a, b) => a / b,
  FloorDiv: (a, b) => Math.floor(a / b),
  Mod: (a, b) => a - Math.floor(a / b) * b,
  Pow: (a, b) => a ** b,
};

const integers: Record<string, (a: bigint, b: bigint) => Value> = {
  Add: (a, b) => checked(a + b),
  Sub: (a, b) => checked(a - b),
  Mult: (a, b) => checked(a * b),
  FloorDiv: (a, b) => (a - modulo(a, b)) / b,
  Mod: modulo,
  Pow: (a, b) => (b < 0n ? Number(a) ** Number(b) : power(a, b)),
  BitOr: (a, b) => a | b,
  BitAnd: (a, b) => a & b,
  BitXor: (a, b) => a ^ b,
  LShift: (a, b) => (a === 0n ? 0n : checked(a << sized(counted(b)))),
  RShift: (a, b) => a >> (counted(b) > 100_000n ? 100_000n : b),
};

function counted(bits: bigint): bigint {
  return bits < 0n ? raise('ValueError', 'it is not a valid value') : bits;
}

function modulo(a: bigint, b: bigint): bigint {
  const rest = a % b;
  return rest !== 0n && rest < 0n !== b < 0n ? rest + b : rest;
}

function power(a: bigint, b: bigint): bigint {
  if (a === 0n || a === 1n) return b === 0n ? 1n : a;
  if (a === -1n) return b % 2n === 0n ? 1n : -1n;
  const bits = BigInt((a < 0n ? -a : a).toString(2).length - 1);
  sized(bits * b);
  return checked(a ** sized(b));
}

function sized(bits: bigint): bigint {
  if (bits > BigInt(limits.integerBits)) throw new LimitReached('it builds too big a number');
  return bits;
}

/** No operand has more than the allowed bits, so one check of the result is enough. */
function checked(value: bigint): bigint {
  if (value >= bound || value <= -bound) throw new LimitReached('it builds too big a number');
  return value;
}

const bound = 1n << BigInt(limits.integerBits);

/** `target op= value`: lists, dicts and sets change in place. */
export function inPlace(machine: Machine, operator: string, target: Value, value: Value): Value {
  const method = methodOf(target, `__i${methods[operator]}__`);
  if (method !== undefined) return machine.call(method, [target, value]);
  if (operator === 'Add' && target instanceof List) {
    const items = [...machine.iterate(value)];
    machine.heap.touch(target);
    target.items.push(...items);
    return target;
  }
  if (operator === 'BitOr' && target instanceof Dict) {
    machine.call(machine.attribute(target, 'update'), [value]);
    return target;
  }
  if (operator === 'BitOr' && target instanceof PythonSet) {
    for (const item of machine.iterate(value)) addItem(machine, target, item);
    return target;
  }
  return binary(machine, operator, target, value);
}

export function unary(machine: Machine, operator: string, operand: Value): Value {
  const value = plain(operand);
  if (value instanceof Unknown) return value;
  if (isNumber(value)) {
    const number = numeric(value);
    if (operator === 'USub') return -number;
    if (operator === 'UAdd') return number;
    if (typeof number === 'bigint') return ~number;
  }
  const names: Record<string, string> = { USub: '__neg__', UAdd: '__pos__', Invert: '__invert__' };
  const method = methodOf(operand, names[operator] ?? '');
  return method === undefined ? unsupported() : machine.call(method, [operand]);
}

type Compare = Extract<ExprNode, { nodeType: 'Compare' }>;

export function compareChain(machine: Machine, { left, ops, comparators }: Compare, frame: Frame): Value {
  let result: Value = true;
  let current = machine.evaluate(left, frame);
  for (const [index, op] of ops.entries()) {
    const node = comparators[index];
    if (!node) break;
    const next = machine.evaluate(node, frame);
    const holds = compareOnce(machine, op.nodeType, current, next);
    if (holds === false) return false;
    if (holds !== true) result = holds;
    current = next;
  }
  return result;
}

const unknownComparison = (): Unknown => new Unknown('an unknown comparison');

function compareOnce(machine: Machine, operator: string, left: Value, right: Value): Value {
  const isNegated = operator === 'IsNot' || operator === 'NotIn' || operator === 'NotEq';
  if (operator === 'Is' || operator === 'IsNot') {
    const isHost = (value: Value) => value instanceof Unknown && value.path.startsWith(hostApi);
    return known(isHost(left) && right === null ? false : identical(machine, left, right), isNegated);
  }
  if (operator === 'Eq' || operator === 'NotEq') {
    if (isElsewhere(left, right)) return isNegated;
    const own = isNegated ? ownUnequal(machine, left, right) : undefined;
    return own ?? known(equal(machine, left, right), isNegated);
  }
  if (operator !== 'In' && operator !== 'NotIn') return ordered(machine, operator, left, right);
  const own = methodOf(right, '__contains__');
  if (own === undefined) return known(contains(machine, right, left), isNegated);
  const answer = machine.call(own, [right, left]);
  return typeof answer === 'boolean' ? known(answer, isNegated) : unknownComparison();
}

/** The pack didn't define names from outside. */
function isElsewhere(module: Value, own: Value): boolean {
  const isOutside = module instanceof Unknown && module.path.endsWith('.__module__');
  return isOutside && typeof own === 'string' && own.startsWith('custom_nodes.');
}

function known(answer: boolean | undefined, negated: boolean): Value {
  return answer === undefined ? unknownComparison() : answer !== negated;
}

function identical(machine: Machine, left: Value, right: Value): boolean | undefined {
  if (left instanceof Unknown || right instanceof Unknown) return undefined;
  return isSame(machine, left, right);
}

/** The pack's own method for `!=`, if any: types that match every other return False from it. */
function ownUnequal(machine: Machine, left: Value, right: Value): Value | undefined {
  for (const [self, other] of [
    [left, right],
    [right, left],
  ] as const) {
    const own = methodOf(self, '__ne__');
    if (own instanceof Func) return machine.call(own, [self, other]);
  }
  return undefined;
}

const comparing: Record<string, [own: string, mirrored: string]> = {
  Lt: ['__lt__', '__gt__'],
  LtE: ['__le__', '__ge__'],
  Gt: ['__gt__', '__lt__'],
  GtE: ['__ge__', '__le__'],
};

function ordered(machine: Machine, operator: string, left: Value, right: Value): Value {
  const [own, mirrored] = comparing[operator] ?? ['', ''];
  const method = methodOf(left, own);
  if (method !== undefined) return machine.call(method, [left, right]);
  const other = methodOf(right, mirrored);
  if (other !== undefined) return machine.call(other, [right, left]);
  const [a, b] = [plain(left), plain(right)];
  const order = compare(machine, a, b);
  if (order === undefined) return unknownComparison();
  if (operator === 'Lt') return order < 0;
  if (operator === 'LtE') return order <= 0;
  return operator === 'Gt' ? order > 0 : order >= 0;
}
