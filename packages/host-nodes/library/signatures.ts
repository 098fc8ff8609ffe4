import { dictOf } from '../values/access.ts';
import { builtinType, openType, Raised } from '../values/builtin-types.ts';
import { BoundMethod, Func, Instance, type NativeCall } from '../values/objects.ts';
import { Unknown } from '../values/plain.ts';
import type { Value } from '../values/values.ts';
import { type Models, natives } from './define.ts';

const signatureType = openType('Signature');
const parameterType = openType('Parameter');
const empty = builtinType('_empty');
const kinds = 'POSITIONAL_ONLY POSITIONAL_OR_KEYWORD VAR_POSITIONAL KEYWORD_ONLY VAR_KEYWORD';
for (const [at, kind] of kinds.split(' ').entries()) parameterType.define(kind, BigInt(at));
for (const type of [signatureType, parameterType]) type.define('empty', empty);

type Arg = NonNullable<Func['code']['args']['vararg']>;

/** `inspect.signature`: some packs declare their inputs by the annotations of a function. */
export function signatureModels(): Models {
  return [
    ['inspect.Signature', signatureType],
    ['inspect.Parameter', parameterType],
    ['inspect._empty', empty],
    ...natives('inspect', { signature }),
  ];
}

const signature: NativeCall = (machine, [value = null]) => {
  const called = value instanceof BoundMethod ? value.func : value;
  const func = called instanceof Func ? (called.own('__wrapped__') ?? called) : called;
  if (!(func instanceof Func) || func.isDressed) return new Unknown('a signature');
  const { posonlyargs = [], args, vararg, kwonlyargs, kwarg } = func.code.args;
  const positional = [...posonlyargs, ...args];
  const surplus = func.defaults.length - positional.length;
  /** Evaluated late. Strings, from `from __future__ import annotations`, aren't followed. */
  const annotation = ({ annotation: node }: Arg): Value => {
    if (!node) return empty;
    if (func.frame.module.own('annotations') instanceof Unknown) return new Unknown('an annotation');
    try {
      return machine.evaluate(node, func.frame);
    } catch (error) {
      if (error instanceof Raised) return new Unknown('an annotation');
      throw error;
    }
  };
  const parameter = (node: Arg, kind: bigint, fallback: Value = empty): [string, Value] => {
    const made = new Instance(parameterType);
    const fields = { name: node.arg, kind, default: fallback, annotation: annotation(node) };
    for (const [name, value] of Object.entries(fields)) made.define(name, value);
    return [node.arg, made];
  };
  const all = [
    ...positional.map((arg, at) =>
      parameter(arg, at < posonlyargs.length ? 0n : 1n, func.defaults[at + surplus]),
    ),
    ...(vararg ? [parameter(vararg, 2n)] : []),
    ...kwonlyargs.map((arg, at) => parameter(arg, 3n, func.keywordDefaults[at])),
    ...(kwarg ? [parameter(kwarg, 4n)] : []),
  ];
  const result = new Instance(signatureType);
  result.define('parameters', dictOf(machine, value instanceof BoundMethod ? all.slice(1) : all));
  result.define('return_annotation', new Unknown('an annotation'));
  return result;
};
