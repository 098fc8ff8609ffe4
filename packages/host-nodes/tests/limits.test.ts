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

  test('keep 80,000 characters of a node, 2,000,000 of all nodes, 50 notes, and 500 characters of a reason', () => {
    const openOf = (field: string, value: string) =>
      nodeOf(
        `class A:\n    FUNCTION = ""\n    CATEGORY = ""\n    RETURN_TYPES = 1\n    ${field} = ${value}\nNODE_CLASS_MAPPINGS = {"A": A}`,
      ).open;
    const node = (size: number) => openOf('DESCRIPTION', `"x" * ${size}`);
    const json = (size: number) => openOf('INPUT_TYPES', `lambda: "x" * ${size - 2}`);
    const big = 'type("A", (), {"FUNCTION": "x" * 80_000, "RETURN_TYPES": 1, "CATEGORY": ""})';
    const { nodes } = extract(`NODE_CLASS_MAPPINGS = {str(i): ${big} for i in range(26)}`);
    const long = { [`${'x'.repeat(600)}/__init__.py`]: 'NODE_CLASS_MAPPINGS', 'README.md': '' };

    const tooLong = 'it is too long to be stored';
    expect([node(80_000).length, node(80_001).at(-1)]).toEqual([2, `description: ${tooLong}`]);
    expect([json(80_000).length, json(80_001).at(-1)]).toEqual([1, `input_types: ${tooLong}`]);
    expect(nodes.filter((each) => each.function !== undefined)).toHaveLength(25);
    expect(extract(listed + '"a" + 1\n'.repeat(51)).notes).toHaveLength(50);
    expect(extract(long).reason).toHaveLength(500);
  });
});
