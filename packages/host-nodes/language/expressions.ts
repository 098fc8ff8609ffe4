import type { Comprehension, Constant, ExprNode } from 'py-ast';
import { orderOf, plain, put, putPair, truth } from '../values/access.ts';
import { Bytes, ellipsis, Iterator, maybe, Several, Slice, Tuple, Unknown } from '../values/plain.ts';
import { setOf } from '../values/equality.ts';
import { fork, join } from '../values/branches.ts';
import { Dict, type Frame, List, type Machine, Scope, type Value } from '../values/values.ts';
import { formatValue } from '../types/formatting.ts';
import { update } from '../types/collections.ts';
import { reprOf, textOf } from '../values/text.ts';
import { isWrittenAsFloat } from '../source.ts';
import { binary, compareChain, unary } from './operators.ts';
import { literalText, makeFunction } from './functions.ts';
import { item } from './subscripts.ts';
import { assign } from './names.ts';
import { evaluateCall } from './calls.ts';

type Node<Kind extends ExprNode['nodeType']> = Extract<ExprNode, { nodeType: Kind }>;
type Rules = { [Kind in ExprNode['nodeType']]?: (machine: Machine, node: Node<Kind>, frame: Frame) => Value };

const rules: Rules = {
  Constant: (_, node, frame) => constant(node, frame),
  Attribute: (machine, node, frame) => machine.attribute(machine.evaluate(node.value, frame), node.attr),
  Subscript: (machine, node, frame) =>
    item(machine, machine.evaluate(node.value, frame), machine.evaluate(node.slice, frame)),
  Slice: (machine, { lower, upper, step }, frame) => {
    const [start = null, stop = null, by = null] = [lower, upper, step].map((part) =>
      part ? machine.evaluate(part, frame) : null,
    );
    return new Slice(start, stop, by);
  },
  Call: evaluateCall,
  List: (machine, { elts }, frame) => elements(machine, elts, frame),
  Tuple: (machine, { elts }, frame) => {
    const { items, order } = elements(machine, elts, frame);
    return new Tuple(items, order);
  },
  Set: (machine, { elts }, frame) => setOf(machine, elements(machine, elts, frame).items),
  Dict: evaluateDict,
  BinOp: evaluateBinary,
  UnaryOp: (machine, { op, operand }, frame) => {
    const value = machine.evaluate(operand, frame);
    if (op.nodeType !== 'Not') return unary(machine, op.nodeType, value);
    const isTrue = truth(machine, value);
    return isTrue === undefined ? new Unknown('an unknown condition') : !isTrue;
  },
  BoolOp: (machine, { op, values }, frame) => combine(machine, op.nodeType === 'And', values, frame),
  Compare: compareChain,
  IfExp: (machine, { test, body, orelse }, frame) => {
    const isTrue = truth(machine, machine.evaluate(test, frame));
    if (isTrue !== undefined) return machine.evaluate(isTrue ? body : orelse, frame);
    const results = fork(machine, [
      () => machine.evaluate(body, frame),
      () => machine.evaluate(orelse, frame),
    ]);
    return results.reduce((left, right) => join(machine, left, right));
  },
  Lambda: (machine, { args, body }, frame) =>
    makeFunction(machine, { name: '<lambda>', args, body, isAsync: false }, frame),
  JoinedStr: (machine, { values }, frame) => formatted(machine, values, frame),
  FormattedValue: (machine, node, frame) => formatted(machine, [node], frame),
  NamedExpr: (machine, { target, value }, frame) => {
    const result = machine.evaluate(value, frame);
    assign(machine, target, result, frame);
    return result;
  },
  Starred: (machine, { value }, frame) => machine.evaluate(value, frame),
  ListComp: listed,
  GeneratorExp: (machine, node, frame) => {
    const { items, order } = listed(machine, node, frame);
    return new Iterator(items.values(), order);
  },
  SetComp: (machine, node, frame) => setOf(machine, listed(machine, node, frame).items),
  DictComp: (machine, { generators, key, value }, frame) => {
    const dict = new Dict();
    const pair = (inner: Frame) => new Tuple([machine.evaluate(key, inner), machine.evaluate(value, inner)]);
    const { items, order } = comprehend(machine, generators, frame, pair);
    for (const item of items) putPair(machine, dict, item);
    dict.order = order;
    return dict;
  },
  Await: (machine, { value }, frame) => machine.evaluate(value, frame),
  Yield: (machine, { value }, frame) => {
    machine.heap.touch(frame.yielded);
    frame.yielded.items.push(value ? machine.evaluate(value, frame) : null);
    return new Unknown('a generator');
  },
  YieldFrom: (machine, { value }, frame) => {
    const source = machine.evaluate(value, frame);
    const items = [...machine.iterate(source)];
    machine.heap.touch(frame.yielded);
    frame.yielded.order ??= orderOf(source);
    frame.yielded.items.push(...items);
    return new Unknown('a generator');
  },
};

function listed(
  machine: Machine,
  { generators, elt }: Node<'ListComp' | 'SetComp' | 'GeneratorExp'>,
  frame: Frame,
): List {
  return comprehend(machine, generators, frame, (inner) => machine.evaluate(elt, inner));
}

/** The value of any expression except a name, which the interpreter reads itself. */
export function evaluateExpression(machine: Machine, node: ExprNode, frame: Frame): Value {
  const rule = rules[node.nodeType] as
    | ((machine: Machine, node: ExprNode, frame: Frame) => Value)
    | undefined;
  return rule ? rule(machine, node, frame) : new Unknown(`a ${node.nodeType}`);
}

function constant(node: Constant, { lines }: Frame): Value {
  const { value, quote_style: style } = node;
  if (typeof value === 'string') {
    if (style === undefined) return value === '...' ? ellipsis : value;
    if (!/^[rR]?[bB]/.test(style)) return literalText(value, style);
    return /[^\0-\xff]/.test(value) ? new Unknown('bytes') : new Bytes(value);
  }
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && !isWrittenAsFloat(node, lines) ? BigInt(value) : value;
  }
  return typeof value === 'boolean' || typeof value === 'bigint' || value === null
    ? value
    : new Unknown('a complex number');
}

function elements(machine: Machine, nodes: readonly ExprNode[], frame: Frame): List {
  const list = new List();
  for (const node of nodes) {
    const value = machine.evaluate(node, frame);
    if (node.nodeType !== 'Starred') list.items.push(value);
    else {
      list.order ??= orderOf(value);
      for (const element of machine.iterate(value)) list.items.push(element);
    }
  }
  return list;
}

function evaluateDict(machine: Machine, { keys, values }: Node<'Dict'>, frame: Frame): Value {
  const dict = new Dict();
  for (const [index, node] of values.entries()) {
    const key = keys[index];
    if (key) put(machine, dict, machine.evaluate(key, frame), machine.evaluate(node, frame));
    else update(machine, dict, machine.evaluate(node, frame));
  }
  return dict;
}

/** Long sums are deep on the left: a loop walks them, not recursion. */
function evaluateBinary(machine: Machine, node: Node<'BinOp'>, frame: Frame): Value {
  const chain: Node<'BinOp'>[] = [node];
  let left: ExprNode = node.left;
  while (left.nodeType === 'BinOp') {
    machine.budget.spend();
    chain.push(left);
    left = left.left;
  }
  let value = machine.evaluate(left, frame);
  for (const { op, right } of chain.reverse()) {
    value = binary(machine, op.nodeType, value, machine.evaluate(right, frame));
  }
  return value;
}

/** `and` and `or`: an unknown operand leaves the rest open; an alternative that defines something wins. */
function combine(machine: Machine, isAnd: boolean, nodes: readonly ExprNode[], frame: Frame): Value {
  let open: Value | undefined;
  let last: Value = null;
  for (const node of nodes) {
    last = machine.evaluate(node, frame);
    const isTrue = truth(machine, last);
    if (isTrue === undefined) open ??= last;
    else if (isTrue !== isAnd)
      return open === undefined ? last : new Unknown('an unknown condition', '', !isAnd);
  }
  if (open === undefined || open === last) return last;
  return isAnd ? new Unknown('an unknown condition') : join(machine, open, last);
}

function formatted(machine: Machine, nodes: readonly ExprNode[], frame: Frame): Value {
  let text = '';
  let isKnown = true;
  for (const node of nodes) {
    const part = formattedPart(machine, node, frame);
    if (part === undefined) isKnown = false;
    text += part ?? '';
    machine.budget.text(part?.length ?? 0, text.length);
  }
  return isKnown ? text : new Unknown('a text with an unknown part');
}

function formattedPart(machine: Machine, node: ExprNode, frame: Frame): string | undefined {
  if (node.nodeType === 'Constant') {
    const text = literalText(String(node.value));
    return typeof text === 'string' ? text : undefined;
  }
  if (node.nodeType !== 'FormattedValue') return undefined;
  const value = machine.evaluate(node.value, frame);
  const spec = node.format_spec ? plain(machine.evaluate(node.format_spec, frame)) : '';
  if (value instanceof Unknown || typeof spec !== 'string') return undefined;
  if (node.conversion === -1) return formatValue(machine, value, spec);
  const text = node.conversion === 115 ? textOf(machine, value) : reprOf(machine, value);
  return text === undefined ? undefined : formatValue(machine, text, spec);
}

/** The items of a comprehension. Those that may be absent are marked. */
function comprehend(
  machine: Machine,
  generators: readonly Comprehension[],
  frame: Frame,
  element: (frame: Frame) => Value,
): List {
  const list = new List();
  const [first] = generators;
  if (!first) return list;
  // The first iterable belongs to the surrounding scope, which may be a class body.
  const source = machine.evaluate(first.iter, frame);
  const inner = frame.inside(new Scope(frame.scope));
  for (const item of walk(0, source)) list.items.push(item);
  return list;

  function* walk(depth: number, iterable: Value): Generator<Value> {
    const generator = generators[depth];
    if (!generator) return;
    list.order ??= orderOf(iterable);
    for (const item of machine.iterate(iterable)) {
      for (const candidate of item instanceof Several ? item.items : [item]) {
        assign(machine, generator.target, candidate, inner);
        const isIn = passes(machine, generator.ifs, inner);
        if (isIn === false) continue;
        const next = generators[depth + 1];
        const found = next ? walk(depth + 1, machine.evaluate(next.iter, inner)) : [element(inner)];
        for (const value of found) yield isIn && candidate === item ? value : maybe(value);
      }
    }
  }
}

function passes(machine: Machine, tests: readonly ExprNode[], frame: Frame): boolean | undefined {
  let result: boolean | undefined = true;
  for (const test of tests) {
    const isTrue = truth(machine, machine.evaluate(test, frame));
    if (isTrue === false) return false;
    result &&= isTrue;
  }
  return result;
}
