import { hostApi } from '../host/names.ts';
import type { ExprNode } from 'py-ast';
import { plain } from '../values/access.ts';
import { compare, contains, equal } from '../values/equality.ts';
import type { Frame, Machine, Value } from '../values/values.ts';
import { Func, Instance } from '../values/objects.ts';
import { isSame, Unknown } from '../values/plain.ts';

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
  const own = right instanceof Instance ? right.cls.find('__contains__') : undefined;
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
    const own = self instanceof Instance ? self.cls.find('__ne__') : undefined;
    if (own instanceof Func) return machine.call(own, [self, other]);
  }
  return undefined;
}

const methods: Record<string, [own: string, mirrored: string]> = {
  Lt: ['__lt__', '__gt__'],
  LtE: ['__le__', '__ge__'],
  Gt: ['__gt__', '__lt__'],
  GtE: ['__ge__', '__le__'],
};

function ordered(machine: Machine, operator: string, left: Value, right: Value): Value {
  const [own, mirrored] = methods[operator] ?? ['', ''];
  const method = left instanceof Instance ? left.cls.find(own) : undefined;
  if (method !== undefined) return machine.call(method, [left, right]);
  const other = right instanceof Instance ? right.cls.find(mirrored) : undefined;
  if (other !== undefined) return machine.call(other, [right, left]);
  const [a, b] = [plain(left), plain(right)];
  const order = compare(machine, a, b);
  if (order === undefined) return unknownComparison();
  if (operator === 'Lt') return order < 0;
  if (operator === 'LtE') return order <= 0;
  return operator === 'Gt' ? order > 0 : order >= 0;
}
