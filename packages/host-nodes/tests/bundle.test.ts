import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import * as pyAst from 'py-ast';
import { bundle } from '../../../infra/bundle/build.ts';
import { lambdaPlugins } from '../../../infra/bundle/lambda-plugins.ts';

/** The thread's file as it is deployed, next to the function's. */
let folder: string;
let gzipBytes: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'extraction-worker-'));
  const { outputs } = await bundle('functions/extract-host-nodes.ts', folder);
  for (const { path, contents } of outputs) await writeFile(join(folder, basename(path)), contents);
  const worker = outputs.find(({ path }) => basename(path) === 'extraction-worker.js');
  gzipBytes = gzipSync(worker?.contents ?? '').length;
});

afterAll(() => rm(folder, { recursive: true }));

test('the bundle holds the thread that the function starts', async () => {
  const files = new Map([['__init__.py', 'NODE_CLASS_MAPPINGS = {"A": type("A", (), {"FUNCTION": "f"})}']]);
  const workerData = { files, name: 'pack', deadline: Date.now() + 10_000 };
  const worker = new Worker(join(folder, 'extraction-worker.js'), { workerData });
  const [answer] = await once(worker, 'message');

  expect(answer).toMatchObject({ status: 'success', nodes: [{ name: 'A', function: 'f' }] });
});

test('the thread loads at most 60 KB, packed', () => {
  expect(gzipBytes / 1024).toBeLessThan(60);
});

/** Every statement and expression that the language has. */
const python = `# a comment
"""Doc"""
from __future__ import annotations
import os, sys as system
from . import a; from ..b.c import (d as e, f,); from g import *
type Alias[T: int, *Ts, **P] = dict[str, T]
@decorate(1)
class C[T](Base, metaclass=Meta, **more):
    x: int = 1; y: str
    def m(self, a, /, b: int = 2, *args, c, d=4, **kwargs) -> "T":  # another
        global g; nonlocal n
        del self.x, (a, [b])
        return a if b else (yield c), (yield from d)
    async def n(self):
        async with open() as (f, g), other: await f
        async for i in self: pass
        else: continue
        return [i async for i in j if await i]
(a, *b), [c, d.e, f[1:2, ::3, ...]] = x = y = 1, 2.0, 3j, 0x1F, 1_000, 1e10, b"b" rb"c", None, True
a += 1; b -= 2; c *= 3; d /= 4; e //= 5; f %= 6; g **= 7; h @= 8; i &= 9; j |= 10; k ^= 11; l <<= 12; m >>= 13
v = not a and b or c < d <= e != f == g >= h > i is j is not k in l not in m
w = -a + +b - ~c * d / e // f % g ** h @ i & j | k ^ l << m >> n
z = lambda a, *b, c=1, **d: (q := a, {**d, 1: 2}, {*b, 3}, [*b], {k: v for k, v in d if k}, {i for i in b})
s = f"{a!r:>{w}} {b=} {{c}} {'d' 'e'}" 'f' '''g
h''' rf"\\d{x:.2f}" "\\N{BULLET} \\x41 \\u0041"
print(*a, b=c, **d, end="") ; (i for i in j); assert a, "b"
for i, (j, k) in l: break
else: pass
while a: pass
else: raise E from f
if a: raise
elif b: pass
else: pass
try: pass
except (A, B) as e: pass
except: pass
else: pass
finally: pass
try: pass
except* G: pass
with (a as b, c): pass
match a:
    case 1 | "b" | None | -2 | 3+4j: pass
    case [x, *rest] | (x, *_) if x: pass
    case {"k": v, **more}: pass
    case C(1, y=2) as z: pass
    case d.e: pass
    case _: pass
`;
const broken = [
  'def f(:',
  'a = (1',
  'class',
  'for i on j: pass',
  'import',
  '"open',
  '  x',
  'match a:\n  case',
];

test('the parser in the bundle reads Python as its package does, but for comments and contexts', async () => {
  const { outputFiles } = await build({
    stdin: { contents: 'export { parse } from "py-ast"', resolveDir: '.' },
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    plugins: lambdaPlugins,
  });
  const file = join(folder, 'parser.mjs');
  await writeFile(file, String(outputFiles[0]?.text));
  const bundled: typeof import('py-ast') = await import(file);
  const reads = ({ parse }: Pick<typeof import('py-ast'), 'parse'>, text: string) => {
    try {
      return JSON.stringify(parse(text), (key, value) => (key === 'ctx' ? undefined : value), 1);
    } catch (error) {
      return String(error).replace(/(Expected .*?) (?:after|at|before|for|in) .*/, '$1');
    }
  };

  expect(reads(bundled, python)).toContain('"MatchClass"');
  expect(reads(bundled, python)).toBe(reads(pyAst, python));
  for (const text of broken) {
    expect(reads(bundled, text)).toBe(reads(pyAst, text));
    expect(reads(bundled, text)).toContain('Error');
  }
});
