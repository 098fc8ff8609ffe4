import type { ExprNode, StmtNode } from 'py-ast';
import { partsOf } from '../source.ts';
import type { Frame, Machine, Value } from '../values/values.ts';
import { Func, type FunctionCode } from '../values/objects.ts';
import { Unknown } from '../values/plain.ts';

/** The parser doesn't resolve a character's name, and this interpreter has no table of names. */
export function literalText(text: string, style = ''): Value {
  const isNamed = text.includes('\\N{') && !/^\w?r/i.test(style);
  return isNamed ? new Unknown('a character by its name') : text;
}

export function docOf([first]: readonly StmtNode[]): Value {
  const node = first?.nodeType === 'Expr' && first.value.nodeType === 'Constant' ? first.value : undefined;
  return typeof node?.value === 'string' && node.quote_style !== undefined
    ? literalText(node.value, node.quote_style)
    : null;
}

export type Definition = Extract<StmtNode, { nodeType: 'FunctionDef' | 'AsyncFunctionDef' }>;

export function makeFunction(machine: Machine, code: FunctionCode, frame: Frame): Func {
  const evaluate = (node: ExprNode): Value => machine.evaluate(node, frame);
  const defaults = code.args.defaults.map(evaluate);
  const keywordDefaults = code.args.kw_defaults.map((node) => (node ? evaluate(node) : undefined));
  return new Func(code, frame, frame.scope, defaults, keywordDefaults);
}

export function defineFunction(machine: Machine, node: Definition, frame: Frame): Func {
  const { name, args, body, nodeType } = node;
  const func = makeFunction(machine, { name, args, body, isAsync: nodeType === 'AsyncFunctionDef' }, frame);
  func.define('__doc__', docOf(body));
  return func;
}

const answers = new WeakMap<readonly StmtNode[], boolean>();

/** Whether a function's own body yields; definitions inside it don't count. */
export function yields(body: readonly StmtNode[]): boolean {
  const known = answers.get(body);
  if (known !== undefined) return known;
  const found = partsOf(body).some(({ nodeType }) => nodeType === 'Yield' || nodeType === 'YieldFrom');
  answers.set(body, found);
  return found;
}
