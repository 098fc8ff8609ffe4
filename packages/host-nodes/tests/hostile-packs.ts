import type { PackFiles } from './packs.ts';

const listed = 'NODE_CLASS_MAPPINGS = {"A": type("A", (), {"FUNCTION": "f", "RETURN_TYPES": ()})}\n';
/** A node whose inputs are what the code left in `x`. */
const shown = `class A:
    FUNCTION = "f"
    RETURN_TYPES = ()
    @classmethod
    def INPUT_TYPES(cls): return {"required": {"x": x}}
NODE_CLASS_MAPPINGS = {"A": A}
`;
const shared = 'x = []\nfor i in range(45):\n    x = [x, x]\n';
const tuples = 'x = ()\nfor i in range(45):\n    x = (x, x)\n';

/** What a pack can do to its reader, by kind. */
export const hostilePacks: Record<string, PackFiles | string> = {
  'brackets nested by the thousand': `x = ${'('.repeat(50_000)}${')'.repeat(50_000)}`,
  'lists nested by the thousand': `x = ${'['.repeat(50_000)}${']'.repeat(50_000)}`,
  'dicts nested by the thousand': `x = ${'{1:'.repeat(20_000)}1${'}'.repeat(20_000)}`,
  'signs in a row': `x = ${'-'.repeat(100_000)}1`,
  'not in a row': `x = ${'not '.repeat(100_000)}1`,
  'a sum of very many parts': `x = ${'1+'.repeat(100_000)}1`,
  'a very long chain of attributes': `import a\nx = a${'.b'.repeat(100_000)}`,
  'a very long chain of calls': `import a\nx = a${'()'.repeat(100_000)}`,
  'a very long chain of comparisons': `x = ${'1<'.repeat(100_000)}2`,
  'conditions nested in expressions': `x = ${'1 if 1 else '.repeat(20_000)}1`,
  'lambdas in lambdas': `x = ${'lambda: '.repeat(20_000)}1`,
  'indentation without end': Array.from({ length: 900 }, (_, depth) => `${' '.repeat(depth)}if 1:`).join(
    '\n',
  ),
  'functions in functions': Array.from({ length: 500 }, (_, depth) => `${' '.repeat(depth)}def f():`).join(
    '\n',
  ),
  'classes in classes': Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth)}class A:`).join('\n'),
  'decorators by the thousand': `def d(x): return x\n${'@d\n'.repeat(20_000)}def f(): pass\n${listed}`,
  'f-strings in f-strings': `x = ${'f"{'.repeat(200)}1${'}"'.repeat(200)}`,
  'shared lists compared': `${shared}y = x == x[0]\nz = [x] == [[x[0], x[1]]]`,
  'shared lists as text': `${shared}y = str(x)`,
  'shared lists copied': `import copy\n${shared}y = copy.deepcopy(x)`,
  'shared tuples copied': `import copy\n${tuples}y = copy.deepcopy(x)`,
  'shared tuples as a key': `${tuples}y = {x: 1}`,
  'shared tuples as classes': `${tuples}y = isinstance(1, x)`,
  'shared lists as an answer': `${shared}${shown}`,
  'shared dicts as an answer': `x = {}\nfor i in range(45):\n    x = {"a": x, "b": x}\n${shown}`,
  'shared lists joined after a condition': `import a\n${shared}y = x\n${shared}if a.b():\n    x = y\n`,
  'a list that holds itself, as text': 'x = []\nx.append(x)\ny = str(x)',
  'a list that holds itself, as an answer': `x = []\nx.append(x)\n${shown}`,
  'a dict that holds itself, copied': 'import copy\nx = {}\nx["x"] = x\ny = copy.deepcopy(x)\nz = x == y',
  'a text doubled': 'x = "a"\nwhile True:\n    x += x',
  'a text multiplied': 'x = "a" * 10 ** 12',
  'a list multiplied': 'x = [0] * 10 ** 12',
  'a list doubled': 'x = [0]\nwhile True:\n    x = x + x',
  'a list that grows while it is walked': 'x = [0]\nfor y in x:\n    x.append(y)',
  'arguments doubled': 'def f(*a): return a\nx = (0,)\nfor i in range(60):\n    x = f(*x, *x)',
  'dicts merged over and over':
    'x = {str(i): i for i in range(1000)}\nwhile True:\n    x = {**x, str(len(x)): 1}',
  'many texts kept': 'x = []\nwhile True:\n    x.append("a" * 999_999)',
  'a format as wide as memory': 'x = f"{1:999999999}" + "%999999999d" % 1 + "{:9999}".format(1)',
  'a replacement that explodes': 'x = "a" * 1000\nwhile True:\n    x = x.replace("a", "a" * 1000)',
  'a join that explodes': 'x = "a" * 100_000\nwhile True:\n    x = x.join(["a"] * 1000)',
  'a power of powers': 'x = 9 ** 9 ** 9 ** 9',
  'a shift by a billion': 'x = 1 << 10 ** 9',
  'a factorial': 'x = 1\nfor i in range(1, 10 ** 9):\n    x *= i',
  'digits that are not a number': 'x = float("0" * 900_000 + "x")',
  'digits in groups of three': 'x = 2 ** 4095\nwhile True: f"{x:,}"',
  'a number of a million digits': 'x = int("9" * 999_999)',
  'a literal of a million digits': `x = ${'9'.repeat(500_000)}`,
  'a loop without end': 'while True:\n    pass',
  'a range without end': 'x = list(range(10 ** 18))',
  'a sum over a range without end': 'x = sum(range(10 ** 18))',
  'a generator without end': 'def g():\n    while True:\n        yield 1\nx = g()',
  'an iterator that never stops':
    'class I:\n    def __iter__(self): return self\n    def __next__(self): return 1\nx = list(I())',
  'an iterator of itself': 'class I:\n    def __iter__(self): return self\nx = list(I())',
  'recursion without end': 'def f(): return f()\nx = f()',
  'recursion that doubles': 'def f(n): return f(n + 1) + f(n + 1)\nx = f(0)',
  'recursion on something unknown that doubles':
    'import a\ndef f(n): return [f(n), f(n)] if n else 0\nx = f(a.n())',
  'two functions that call each other': 'def f(): return g()\ndef g(): return f()\nx = f()',
  'a property of itself': 'class A:\n    @property\n    def p(self): return self.p\nx = A().p',
  '__getattr__ of itself': 'class A:\n    def __getattr__(self, n): return getattr(self, n + "x")\nx = A().y',
  '__getattribute__ of itself': 'class A:\n    def __getattribute__(self, n): return self.z\nx = A().y',
  '__eq__ of itself': 'class A:\n    def __eq__(self, o): return o == self\nx = A() == A()',
  '__call__ that makes another': 'class A:\n    def __call__(self): return A()()\nx = A()()',
  '__init_subclass__ that derives':
    'class A:\n    def __init_subclass__(cls):\n        class B(cls): pass\nclass C(A): pass',
  'a metaclass that derives':
    'class M(type):\n    def __new__(m, n, b, d):\n        return M(n, b, d)\nclass A(metaclass=M): pass',
  'a class that derives from itself over and over': 'class A: pass\nwhile True:\n    class A(A): pass',
  'classes with very many bases': `${Array.from({ length: 400 }, (_, index) => `class C${index}: pass`).join('\n')}\nclass D(${Array.from({ length: 400 }, (_, index) => `C${index}`).join(', ')}): pass\nwhile True:\n    class D(D): pass`,
  'a pattern that goes back exponentially': 'import re\nx = re.match(r"(a+)+$", "a" * 60 + "b")',
  'a pattern of many options': `import re\nx = re.match(r"${'a?'.repeat(60)}${'a'.repeat(60)}", "a" * 60)`,
  'a pattern of nested repeats': 'import re\nx = re.search(r"((a*)*)*b", "a" * 5000)',
  'a pattern with references back': 'import re\nx = re.search(r"(.*)\\1\\1\\1b", "a" * 10000)',
  'a pattern of counts of counts': 'import re\nx = re.search(r"((a{0,999}){0,999}){0,999}b", "a" * 5000)',
  'a glob of many stars': {
    '__init__.py': `import glob, os\nx = glob.glob(os.path.dirname(__file__) + "/${'*a'.repeat(200)}")`,
    [`${'a'.repeat(240)}.txt`]: '',
  },
  'a pattern of hundreds of ways, compiled for each match': `import re\nx = "a" * 20_000\nwhile True: re.findall(r"${'a|'.repeat(200)}a", x)`,
  'folders in folders': 'import os\nos.makedirs(os.path.dirname(__file__) + "/a" * 400_000)',
  'a sort whose key recurses': 'def k(x): return sorted([x], key=k)\nx = sorted([1, 2], key=k)',
  'conditions by the thousand, all unknown': `import a\n${'if a.b():\n    x = 1\nelse:\n    x = 2\n'.repeat(5_000)}${listed}`,
  'unknown conditions in a loop over a large dict':
    'import a\nd = {i: [i] for i in range(20_000)}\nfor i in range(10 ** 6):\n    if a.b():\n        d[i] = 1',
  'unknown conditions nested': `import a\n${Array.from({ length: 60 }, (_, depth) => `${' '.repeat(depth)}if a.b():`).join('\n')}\n${' '.repeat(60)}x = 1`,
  'a module that imports itself': {
    '__init__.py': 'from . import a',
    'a.py': 'from . import a\nfrom .a import b',
  },
  'a chain of a thousand imports': Object.fromEntries([
    ['__init__.py', 'from . import m0'],
    ...Array.from({ length: 1000 }, (_, index) => [`m${index}.py`, `from . import m${index + 1}`]),
  ]),
  'a module that loads itself by path':
    'import importlib.util\nspec = importlib.util.spec_from_file_location("x", __file__)\nm = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(m)',
  '__getattr__ of a module': {
    '__init__.py': 'from . import a\nx = a.y',
    'a.py': 'def __getattr__(n):\n    from . import a\n    return getattr(a, n)',
  },
  'a file of two million characters': `x = 1\n${'# comment\n'.repeat(200_000)}`,
  'lists without brackets in a file that is not Python': `(\n${'for a in b, c\n'.repeat(60_000)}del ${' '.repeat(100_000)}`,
  'more code than is read': Object.fromEntries([
    ['__init__.py', Array.from({ length: 40 }, (_, index) => `from . import m${index}`).join('\n')],
    ...Array.from({ length: 40 }, (_, index) => [`m${index}.py`, 'x = [1, 2, 3]\n'.repeat(60_000)]),
  ]),
  'ten thousand files': Object.fromEntries([
    ['__init__.py', 'import os\nx = list(os.walk(os.path.dirname(__file__)))'],
    ...Array.from({ length: 10_000 }, (_, index) => [`a/${index % 100}/${index}.py`, '']),
  ]),
  'files written without end':
    'import os\ni = 0\nwhile True:\n    i += 1\n    with open(os.path.join(os.path.dirname(__file__), str(i)), "w") as f:\n        f.write("a" * 100_000)',
  'ten thousand names': 'NODE_CLASS_MAPPINGS = {str(i): int for i in range(10_000)}',
  'many nodes that all take too long': `class A:\n    FUNCTION = "f"\n    @classmethod\n    def INPUT_TYPES(cls):\n        while True: pass\nNODE_CLASS_MAPPINGS = {str(i): A for i in range(5000)}`,
  'many nodes with a large answer':
    'x = {str(i): "a" * 100 for i in range(2000)}\nclass A:\n    FUNCTION = "f"\n    @classmethod\n    def INPUT_TYPES(cls): return {"required": x}\nNODE_CLASS_MAPPINGS = {str(i): A for i in range(5000)}',
  'names that JavaScript knows': `class A:\n    __proto__ = 1\n    constructor = 2\n    FUNCTION = "f"\nglobals()["__proto__"] = 1\nd = {"__proto__": {"polluted": 1}}\nd["constructor"] = {"prototype": 1}\nNODE_CLASS_MAPPINGS = {"__proto__": A, "constructor": A, "toString": A}`,
  'attributes of built-in types':
    'try:\n    str.lower = 1\n    object.x = 1\n    type.mro = 1\nexcept TypeError:\n    pass\nx = "A".lower()',
  'JSON nested by the thousand': 'import json\nx = json.loads("[" * 100_000 + "]" * 100_000)',
  'null characters and half characters': `x = "\\0\\ud800"\ny = {"\\ud83d": 1}\nz = str(y)\n${listed}`,
  'partial functions in partial functions':
    'from functools import partial\nf = print\nfor i in range(100_000):\n    f = partial(f, 1)\nf()',
  'bound methods of bound methods':
    'class A:\n    def f(self): return self.f\nx = A().f\nwhile True:\n    x = x()',
  'slices of slices': 'x = [0] * 100_000\nwhile True:\n    y = x[:]',
  'exceptions in a loop':
    'while True:\n    try:\n        1 / 0\n    except Exception as e:\n        continue\n    finally:\n        pass',
  'risky calls by the megabyte in files that are never imported': {
    '__init__.py': listed,
    ...Object.fromEntries(
      Array.from({ length: 8 }, (_, index) => [`file${index}.py`, 'eval(x)\n'.repeat(120_000)]),
    ),
  },
  'commands that nearly install packages': `${listed}x = [${'["pip", "-q", "-q"], '.repeat(30_000)}]`,
  'imports of imports of risky modules': `${'import subprocess as a\na = a.a\na.run.a.a.a.a.a.a.a.a.a.a.a()\n'.repeat(20_000)}`,
  'code in a text': 'exec("while True: pass")\neval("9**9**9")\ncompile("x", "y", "exec")',
  'continues that may happen': `import x\nfor i in range(1000):\n${'    if x.f(): continue\n'.repeat(400)}`,
  'returns that may happen': `import x\nd = {}\ndef f(n):\n${'    if x.f(): return f(n + 1)\n    d[n] = n\n'.repeat(100)}f(0)`,
  'breaks that may happen': 'import x\nd = {}\nfor i in range(100000):\n    if x.f(): break\n    d[i] = i',
  'loops over unknown in each other': `import x\nn = 0\n${Array.from({ length: 18 }, (_, depth) => `${' '.repeat(depth)}for i in x.f():\n`).join('')}${' '.repeat(18)}n += 1`,
  'a list that may be longer over and over': 'import x\nl = []\nwhile True:\n    if x.f(): l.append(len(l))',
  'lists joined with their own items': 'import x\nl = [1]\nwhile True:\n    if x.f(): l.extend(l)',
  'a dict passed outside over and over':
    'import x\nd = {i: i for i in range(10000)}\nl = list(d)\nwhile True:\n    x.f(d, l)',
  'one text of a megabyte that 300 nodes share':
    'T = "x" * 900_000\nNODE_CLASS_MAPPINGS = {f"N{i}": type("N", (), {"DESCRIPTION": T, "CATEGORY": T, "FUNCTION": T, "RETURN_TYPES": (T,)}) for i in range(300)}',
  'titles of a megabyte': `${listed}T = "y" * 900_000\nNODE_DISPLAY_NAME_MAPPINGS = {"A": T}\nNODE_CLASS_MAPPINGS.update({T[:n]: NODE_CLASS_MAPPINGS["A"] for n in range(300)})`,
  'optional imports over many listings': `${Array.from({ length: 300 }, (_, at) => `M${at} = {i: type("A", (), {}) for i in range(50)}\n`).join('')}while True:\n    try:\n        import nowhere\n    except ImportError:\n        pass`,
  'optional imports in each other': `${listed}${Array.from({ length: 60 }, (_, depth) => `${' '.repeat(depth)}try:\n${' '.repeat(depth + 1)}import nowhere\n`).join('')}${Array.from({ length: 60 }, (_, depth) => `${' '.repeat(59 - depth)}except ImportError: pass\n`).join('')}`,
  'one schema with very many inputs, many times in a list':
    'from comfy_api.latest import io, ComfyExtension\ninputs = [io.Int.Input(f"i{n}", tooltip="t" * 1000) for n in range(2000)]\nclass N(io.ComfyNode):\n    @classmethod\n    def define_schema(cls): return io.Schema("N", inputs=inputs)\nclass E(ComfyExtension):\n    async def get_node_list(self): return [N] * 100_000\nasync def comfy_entrypoint(): return E()',
  'a schema that makes another node of itself':
    'from comfy_api.latest import io\nclass N(io.ComfyNode):\n    @classmethod\n    def define_schema(cls):\n        class M(cls): pass\n        return M.GET_SCHEMA()\nNODE_CLASS_MAPPINGS = {"N": N}',
  'choices in choices of the newer schema':
    'from comfy_api.latest import io\no = []\nfor i in range(40):\n    o = [io.DynamicCombo.Option(str(i), [io.DynamicCombo.Input("a", options=o), io.DynamicCombo.Input("b", options=o)])]\nclass N(io.ComfyNode):\n    @classmethod\n    def define_schema(cls): return io.Schema("N", inputs=[io.DynamicCombo.Input("c", options=o)])\nNODE_CLASS_MAPPINGS = {"N": N}',
  'a decorated function that is asked for attributes without end':
    'import outside\n@outside.d\ndef f(): pass\nx = f\nwhile True:\n    x = x.a',
  'a reason of a megabyte with control characters':
    'raise ImportError("\\x1b[2J\\u202e\\n::error::" * 60_000)',
  'a walk over packages that import each other': Object.fromEntries([
    [
      '__init__.py',
      `import pkgutil, importlib\nfor i in pkgutil.iter_modules(__path__, __name__ + "."): importlib.import_module(i.name)\n${listed}`,
    ],
    ...Array.from({ length: 400 }, (_, at) => [
      `p${at}/__init__.py`,
      `from .. import p${(at + 1) % 400}\nfrom ..p${(at + 7) % 400} import *\nfor i in __import__("pkgutil").iter_modules(__path__): pass`,
    ]),
  ]) as PackFiles,
};

/** The kinds that ask for the most memory. */
export const hungry = [
  'a list doubled',
  'dicts merged over and over',
  'many texts kept',
  'recursion on something unknown that doubles',
  'more code than is read',
  'many nodes with a large answer',
];
