import { describe, expect, test } from '@jest/globals';
import { Budget, LimitReached } from '../limits.ts';
import { extract, nodeOf, resultOf } from './packs.ts';

const listed = 'NODE_CLASS_MAPPINGS = {"A": type("A", (), {"FUNCTION": "f", "RETURN_TYPES": ()})}\n';
const isRead = (code: string) => extract(listed + code).status === 'success';
const range = (length: number) => Array.from({ length }, (_, index) => index);

/** Modules that import each other in a row. */
function importsDeep(modules: number): boolean {
  const files = range(modules).map((at) => [`m${at}.py`, at + 1 < modules ? `from . import m${at + 1}` : '']);
  return (
    extract({ '__init__.py': `${listed}from . import m0`, ...Object.fromEntries(files) }).status === 'success'
  );
}

/** Files of a million characters, and one of the rest. */
function parses(characters: number): boolean {
  const sizes = [...range(15).map(() => 1_000_000), characters - 15_000_000 - 2_000];
  const init = `${listed}${sizes.map((_, at) => `from . import m${at}`).join('\n')}`.padEnd(2_000);
  const files = sizes.map((size, at) => [`m${at}.py`, '#'.padEnd(size, 'x')]);
  return extract({ '__init__.py': init, ...Object.fromEntries(files) }).status === 'success';
}

/** Files that are never imported. Only the last one is risky. */
function findsRisk(characters: number): boolean {
  const harmless = { 'a.py': '#eval'.padEnd(1_000_000), 'b.py': '#eval'.padEnd(1_000_000) };
  const { risks } = extract({
    '__init__.py': listed,
    ...harmless,
    'c.py': 'eval(x) '.padEnd(characters - 2_000_000),
  });
  return risks.length > 0;
}

const derives = (ancestors: number) =>
  isRead(
    `class C0: pass\n${range(ancestors)
      .map((at) => `class C${at + 1}(C${at}): pass`)
      .join('\n')}`,
  );
const matches = (pattern: number, text: number) =>
  resultOf(`import re\nRESULT = bool(re.match("a" * ${pattern}, "a" * ${text}))`) === true;
const recurses = (calls: number) =>
  resultOf(`def f(n): return n if n == 1 else f(n - 1)\nRESULT = f(${calls})`) !== undefined;
const lists = (names: number) =>
  extract(`A = type("A", (), {})\nNODE_CLASS_MAPPINGS = {str(i): A for i in range(${names})}`).nodes
    .length === names;

describe('the limits of a pack', () => {
  test.each<[limit: string, max: number, isWithin: (size: number) => boolean]>([
    ['characters of a file', 1_000_000, (size) => isRead('#'.repeat(size - listed.length))],
    ['characters of all code', 16_000_000, parses],
    ['characters of code that is never imported', 3_000_000, findsRisk],
    ['characters of a text', 1_000_000, (size) => isRead(`x = "a" * ${size}`)],
    ['characters of a regular expression', 500, (size) => matches(size, 600)],
    ['characters that one is matched with', 20_000, (size) => matches(1, size)],
    ['bits of a number', 4_096, (size) => isRead(`x = 2 ** ${size - 1}`)],
    ['bits of a shifted number', 4_096, (size) => isRead(`x = 1 << ${size - 1}`)],
    ['nodes', 5_000, lists],
    ['calls in each other', 120, recurses],
    ['imports in each other', 59, importsDeep],
    ['ancestors of a class', 99, derives],
  ])('allow so many %s: %i', (_, max, isWithin) => {
    expect([isWithin(max), isWithin(max + 1)]).toEqual([true, false]);
  });

  test('stop a pack after 3,000,000 steps, and each of its nodes after 300,000', () => {
    const endless = 'class A:\n    @classmethod\n    def INPUT_TYPES(cls):\n        while True: pass\n';
    const stepsOf = (nodes: number) =>
      extract(`${endless}NODE_CLASS_MAPPINGS = {str(i): A for i in range(${nodes})}`).steps;

    expect(extract('while True: pass').steps).toBe(3_000_001);
    expect(Math.floor((stepsOf(3) - stepsOf(2)) / 100)).toBe(3_000);
  });

  test('give a part no more steps than the pack has left', () => {
    const budget = new Budget(10);

    expect(() => budget.allow(100, () => budget.spend(11))).toThrow(LimitReached);
  });

  test('keep 80,000 bytes of a node, 2,000,000 of all nodes, 50 notes, and 500 characters of a reason', () => {
    const openOf = (field: string, value: string) =>
      nodeOf(
        `class A:\n    FUNCTION = ""\n    CATEGORY = ""\n    RETURN_TYPES = 1\n    ${field} = ${value}\nNODE_CLASS_MAPPINGS = {"A": A}`,
      ).open;
    const keptOf = (fields: string) =>
      Object.keys(nodeOf(`NODE_CLASS_MAPPINGS = {"A": type("A", (), {"RETURN_TYPES": (), ${fields}})}`));
    const node = (size: number) => openOf('DESCRIPTION', `"x" * ${size}`);
    const json = (size: number) => openOf('INPUT_TYPES', `lambda: "x" * ${size - 2}`);
    const big = 'type("A", (), {"FUNCTION": "x" * 80_000, "RETURN_TYPES": 1, "CATEGORY": ""})';
    const { nodes } = extract(`NODE_CLASS_MAPPINGS = {str(i): ${big} for i in range(26)}`);
    const long = {
      [`\u202E\u001B[31m${'x'.repeat(600)}/__init__.py`]: 'NODE_CLASS_MAPPINGS',
      'README.md': '',
    };

    const tooLong = 'it is too long to be stored';
    expect(node(80_001)).toEqual([...node(80_000), `description: ${tooLong}`]);
    expect(openOf('DESCRIPTION', '"ä" * 40_001').at(-1)).toBe(`description: ${tooLong}`);
    expect(openOf('DESCRIPTION', '"\\ud800"').at(-1)).toBe('description: it is not valid Unicode');
    expect(keptOf('"OUTPUT_IS_LIST": (True,) * 1_000')).toContain('output_is_list');
    expect(keptOf('"OUTPUT_IS_LIST": (True,) * 1_001')).not.toContain('output_is_list');
    expect(keptOf('"OUTPUT_IS_LIST": (True,), "CATEGORY": "x" * 79_990')).toContain('output_is_list');
    expect(keptOf('"OUTPUT_IS_LIST": (True,), "CATEGORY": "x" * 79_991')).not.toContain('output_is_list');
    expect(keptOf('"DESCRIPTION": "y" * 40_001, "FUNCTION": "x" * 40_000')).not.toContain('description');
    expect([json(80_000).length, json(80_001).at(-1)]).toEqual([1, `input_types: ${tooLong}`]);
    expect([nodes.length, nodes.filter((each) => each.function !== undefined).length]).toEqual([26, 25]);
    expect(extract(listed + '"a" + 1\n'.repeat(51)).notes).toHaveLength(50);
    expect(extract(long).reason).toMatch(/^\P{C}{500}$/u);
  });
});

const size = 1_000;
/** One of each kind of value, as large as the others: `size` items or characters. */
const setup = `
import outside, base64, configparser, copy, csv, dataclasses, functools, hashlib, inspect, json, os, re, tomllib
n = ${size}
l = list(range(n))
texts = tuple(str(i) for i in l)
t = tuple(l)
d = {name: 1 for name in texts}
s, other = set(l), set(l)
maybe = {name: 1 for name in texts}
maybe.pop(outside.f(), 1)
opened = list(l)
outside.f(opened)
x = "a" * n
y = "a" * n
b = x.encode()
h = hashlib.md5(b)
file = open(os.path.dirname(__file__) + "/file")
def many(${range(size).map((at) => `p${at}`)}): pass
class A: pass
Many = type("Many", (), d)
class Fields: __annotations__ = d
partial = functools.partial(min, *l)
named = functools.partial(dict, **d)
`;

const steps = (code: string) => extract({ '__init__.py': `${setup}${code}`, file: 'a'.repeat(size) }).steps;
const before = steps('pass');

test.each([
  ...['d | outside.f()', 'd | {}', '{} | d', 'd.pop(outside.f(), 1)', 'if maybe: pass', 'len(maybe)'],
  ...['d == dict(d)', 's | other', 'str(l)'],
  ...['len(l)', 'bool(opened) or list(enumerate(opened))', 'l[-1]', 'l[n - 1]', 'l[5:6]', 'l[0] = 1'],
  ...['l[0:1] = [2]', 'del l[0]', 'l == [*l, 1]', 'l < l', 'l + []', 'l * 1', 'l.remove(0)', 'n in l'],
  ...['l.insert(0, 0)', 'l[:]', 'l.copy()', 'l.reverse()', 'l.sort()', 'sorted(t)'],
  ...['[] if outside.f() else l', 'l if outside.f() else []'],
  ...['[i for i in l]', 'outside.f(l)', 'min(*l)', 'dict(**d)', 'partial()', 'named()', 'copy.copy(d)'],
  ...['{t: 1}', 'frozenset(l)', '"".join(texts)', '"a".startswith(texts)'],
  ...['dataclasses.dataclass(Fields)', 'inspect.getmembers(Many)', 'copy.deepcopy(l)'],
  ...['x == y', 'x in [y]', '{y: 1}', 'x[0]', 'getattr(A, y, 1)', 'setattr(A, y, 1)', 'x + y', 'x * 1'],
  ...['"b" in x', 'int(y)', 'float(y)', 'x.upper()', '"".strip(y)', '"%s" % x'],
  ...['re.sub("b", "a", x)', 're.sub("a", "\\\\1" * n, "a")'],
  ...['x.encode()', 'b.decode()', 'hashlib.md5(b)', 'h.hexdigest()', 'base64.b64encode(b)'],
  ...['base64.b64decode(x)', 'tomllib.loads("#" + x)', 'json.loads(x)', 'list(csv.reader([x]))'],
  'configparser.ConfigParser().read_string(x)',
  'os.path.normpath(x)',
  'os.path.join("a", x)',
  'file.readlines()',
  'inspect.signature(many)',
])('spends a step for at most 32 items or characters: %s', (code) => {
  expect(steps(code) - before).toBeGreaterThanOrEqual(size / 32);
});

test('gives back the depth of a call that raises', () => {
  const raises =
    'def f(): raise ValueError()\nfor i in range(120):\n    try: f()\n    except ValueError: pass\n';

  expect(resultOf(`${raises}def g(): return True\nRESULT = g()`)).toBe(true);
});
