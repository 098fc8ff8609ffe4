import { expect, test } from '@jest/globals';
import { resultOf, saidBy } from './packs.ts';

/** What the evaluator makes of Python: each case ends with a comment that says what `RESULT` is. */
const values: Record<string, string> = {
  'arithmetic of integers': 'RESULT = [7 // 2, -7 // 2, -7 % 3, 2 ** 10, 7 / 2]\n# [3, -4, 2, 1024, 3.5]',
  'bits and shifts': 'RESULT = [6 & 3, 6 | 3, 6 ^ 3, 1 << 4, ~1]\n# [2, 7, 5, 16, -2]',
  'big integers': 'RESULT = str(0xffffffffffffffff)\n# "18446744073709551615"',
  'floats that are whole': 'RESULT = str([1.0, 1, 1e3, 2., 10.5])\n# "[1.0, 1, 1000.0, 2.0, 10.5]"',
  'floats after text that is not ASCII': 'é, RESULT = "漢", str(1.0)\n# "1.0"',
  'comparison chains':
    'RESULT = [1 < 2 < 3, 1 < 3 < 2, "a" in "cat", 4 not in (1, 2)]\n# [true, false, true, true]',
  'and, or and not': 'RESULT = [0 or "x", 1 and 2, not [], None or False]\n# ["x", 2, true, false]',
  'conditional expressions': 'RESULT = "a" if 1 > 2 else "b"\n# "b"',
  slices: 'x = "abcdef"\nRESULT = [x[1:3], x[::-1], x[-2:], [1, 2, 3][:2]]\n# ["bc", "fedcba", "ef", [1, 2]]',
  unpacking: 'a, *b, c = [1, 2, 3, 4]\nRESULT = [a, b, c]\n# [1, [2, 3], 4]',
  'merging of displays': 'RESULT = {**{"a": 1}, "b": [*(1, 2), 3]}\n# {"a": 1, "b": [1, 2, 3]}',
  'list, set and dict comprehensions':
    'RESULT = [[x * y for x in range(3) if x for y in (1, 2)], {k: v for k, v in zip("ab", (1, 2))}, len({1, 1, 2})]\n# [[1, 2, 2, 4], {"a": 1, "b": 2}, 2]',
  'comprehensions in a class body':
    'class A:\n    xs = [1, 2]\n    ys = [x + 1 for x in xs]\nRESULT = A.ys\n# [2, 3]',
  'generator expressions': 'RESULT = sum(x for x in range(4))\n# 6',
  generators:
    'def count(n):\n    for i in range(n):\n        yield i\n    yield from "ab"\nRESULT = list(count(2))\n# [0, 1, "a", "b"]',
  'lambdas and closures': 'def outer(n):\n    return lambda x: x + n\nRESULT = outer(2)(3)\n# 5',
  'defaults, keywords and rest arguments':
    'def f(a, b=None, *c, d=4, **e):\n    return [a, b, list(c), d, e]\nRESULT = str([f(1), f(1, 2, 3, d=5, x=6), f(*[1], **{"b": 7})])\n# "[[1, None, [], 4, {}], [1, 2, [3], 5, {\'x\': 6}], [1, 7, [], 4, {}]]"',
  'None as an argument': 'def f(a, b="x"):\n    return b\nRESULT = f(1, None)\n# null',
  'nonlocal and global':
    'n = 0\ndef outer():\n    global n\n    m = 1\n    def inner():\n        nonlocal m\n        m += 1\n    inner()\n    n = m\nouter()\nRESULT = n\n# 2',
  'f-strings': 'w = 6\nRESULT = f"{w!r}|{w:03d}|{{}}|{w=}"\n# "6|006|{}|w=6"',
  'formatting with percent and format':
    'RESULT = ["%s-%d" % ("a", 7), "{}-{a}".format("xy", a=1)]\n# ["a-7", "xy-1"]',
  'the small language of formats':
    'd = {"k": "v", "l": [1, 2]}\nRESULT = ["%-5s|%05.1f|%x|%+d|%%" % ("a", 2.25, 255, 3), "{:>4}|{!r}|{:,}|{:^5}|{:.2f}".format("r", "q", -1234567, "m", 1), "{0[k]}{0[l][1]}{n.__class__.__name__!s:>4}".format(d, n=1), "%(k)s" % d, f"{7:_<3}{-7:04d}{True}", "7".zfill(3) + "a".ljust(3, ".")]\n# ["a    |002.2|ff|+3|%", "   r|\'q\'|-1,234,567|  m  |1.00", "v2 int", "v", "7__-007True", "007a.."]',
  'methods of strings':
    'RESULT = ["a,b".split(","), " x ".strip(), "Ab".lower(), "ab".replace("a", "c"), "-".join("abc"), "x.y.z".rsplit(".", 1), "x.y.z".rpartition("."), "x.y".find("."), "a b".title(), " ".split()]\n# [["a", "b"], "x", "ab", "cb", "a-b-c", ["x.y", "z"], ["x.y", ".", "z"], 1, "A B", []]',
  'methods of lists':
    'x = [3, 1]\nx.append(2)\nx.sort(reverse=True)\nx.insert(0, 9)\nx.extend((5,))\nx.remove(1)\nRESULT = [x, x.index(2), x.pop()]\n# [[9, 3, 2], 2, 5]',
  'methods of dicts':
    'd = {"a": None}\nd.update(b=2)\nd.setdefault("c", 3)\nRESULT = [d.get("a", 1), d.get("x", 4), d.pop("b"), list(d), "c" in d, list(d.popitem())]\n# [null, 4, 2, ["a", "c"], true, ["c", 3]]',
  sets: 'RESULT = sorted({1, 2} | {3} - {3} | {4} & {4, 5})\n# [1, 2, 4]',
  'augmented assignments in place':
    'a = b = [1]\nb += [2]\nd = {"x": 1}\nd["x"] += 5\nd |= {"y": 2}\nRESULT = [a, d]\n# [[1, 2], {"x": 6, "y": 2}]',
  deletions:
    'd = {"a": 1, "b": 2}\ndel d["a"]\nx = [1, 2, 3]\ndel x[0]\nRESULT = [d, x]\n# [{"b": 2}, [2, 3]]',
  'loops with break, continue and else':
    'RESULT = []\nfor x in range(5):\n    if x == 1: continue\n    if x == 3: break\n    RESULT.append(x)\nelse:\n    RESULT.append("never")\nwhile len(RESULT) < 4:\n    RESULT.append("w")\n# [0, 2, "w", "w"]',
  exceptions:
    'def f(d):\n    try:\n        return d["x"]\n    except (KeyError, TypeError) as e:\n        return type(e).__name__\n    finally:\n        RESULT.append("end")\nRESULT = []\nRESULT.append(f({}))\n# ["end", "KeyError"]',
  'exceptions of their own':
    'class Ours(ValueError):\n    pass\ntry:\n    raise Ours("why")\nexcept ValueError as e:\n    RESULT = str(e)\n# "why"',
  'with statements':
    'class C:\n    def __enter__(self): return "in"\n    def __exit__(self, *a): return True\nwith C() as c:\n    RESULT = c\n    raise ValueError()\n# "in"',
  'the walrus operator': 'RESULT = [y for x in (1, 2) if (y := x + 1) > 2]\n# [3]',
  'inheritance and super':
    'class A:\n    def f(self): return ["A"]\nclass B(A):\n    def f(self): return ["B"] + super().f()\nclass C(A):\n    def f(self): return ["C"] + super().f()\nclass D(B, C):\n    def f(self): return ["D"] + super().f()\nRESULT = D().f()\n# ["D", "B", "C", "A"]',
  'class methods, static methods and properties':
    'class A:\n    n = 1\n    @classmethod\n    def c(cls): return cls.n\n    @staticmethod\n    def s(x): return x\n    @property\n    def p(self): return self.n + 1\n    @p.setter\n    def p(self, v): self.n = v\na = A()\na.p = 5\nRESULT = [A.c(), A.s(2), a.p]\n# [1, 2, 6]',
  descriptors:
    'class D:\n    def __set_name__(self, owner, name): self.name = name\n    def __get__(self, obj, cls=None): return cls.__name__ + self.name\nclass A:\n    x = D()\nRESULT = [A.x, A().x]\n# ["Ax", "Ax"]',
  'class properties by a descriptor of the pack':
    'class classproperty:\n    def __init__(self, f): self.f = f\n    def __get__(self, obj, cls): return self.f(cls)\nclass A:\n    @classproperty\n    def N(cls): return cls.__name__\nRESULT = A.N\n# "A"',
  __init_subclass__:
    'seen = []\nclass A:\n    def __init_subclass__(cls, tag="none", **kw): seen.append([cls.__name__, tag])\nclass B(A, tag="t"): pass\nRESULT = seen\n# [["B", "t"]]',
  metaclasses:
    'seen = []\nclass M(type):\n    def __new__(m, name, bases, ns):\n        cls = super().__new__(m, name, bases, ns)\n        seen.append(name)\n        cls.extra = 1\n        return cls\n    def __call__(cls, *a): return "made"\nclass A(metaclass=M): pass\nclass B(A): pass\nRESULT = [seen, B.extra, A()]\n# [["A", "B"], 1, "made"]',
  'three-argument type':
    'A = type("Made", (object,), {"x": 1, "f": lambda self: self.x})\nRESULT = [A.__name__, A().f()]\n# ["Made", 1]',
  'setattr, getattr and hasattr':
    'class A: pass\nsetattr(A, "x", None)\nRESULT = [getattr(A, "x", 1), getattr(A, "y", 2), hasattr(A, "x"), hasattr(A, "y")]\n# [null, 2, true, false]',
  '__getattr__ and __call__':
    'class A:\n    def __getattr__(self, n): return n.upper()\n    def __call__(self, x): return x\nRESULT = [A().abc, A()(3)]\n# ["ABC", 3]',
  'operators of their own':
    'class V:\n    def __init__(self, n): self.n = n\n    def __add__(self, o): return V(self.n + o.n)\n    def __eq__(self, o): return self.n == o.n\n    def __lt__(self, o): return self.n < o.n\n    def __len__(self): return self.n\n    def __getitem__(self, k): return k\n    def __contains__(self, k): return k == 1\n    def __bool__(self): return self.n > 0\nRESULT = [(V(1) + V(2)).n, V(1) == V(1), V(1) < V(2), len(V(3)), V(1)["k"], 1 in V(0), bool(V(0))]\n# [3, true, true, 3, "k", true, false]',
  enums:
    'from enum import Enum, IntEnum, auto\nclass C(Enum):\n    RED = "r"\n    BLUE = "b"\nclass N(IntEnum):\n    A = auto()\n    B = auto()\nRESULT = [[c.value for c in C], C("r").name, C["BLUE"].value, N.B + 1, list(C.__members__)]\n# [["r", "b"], "RED", "b", 3, ["RED", "BLUE"]]',
  'enums of texts':
    'from enum import Enum\nclass T(str, Enum):\n    A = "a"\nRESULT = [T.A, T.A.upper(), T.A == "a"]\n# ["a", "A", true]',
  'classes that set attributes in their own way':
    'class M(type):\n    def __setattr__(cls, n, v): super().__setattr__(n, v + 1)\nclass A(metaclass=M):\n    def __setattr__(self, n, v): object.__setattr__(self, n, v * 2)\na = A()\na.x = A.y = 2\nRESULT = [a.x, A.y]\n# [4, 3]',
  dataclasses:
    'from dataclasses import dataclass, field\n@dataclass\nclass P:\n    x: int\n    y: int = 2\n    z: list = field(default_factory=list)\n    def __post_init__(self): self.x += 1\np = P(1)\nRESULT = [p.x, p.y, p.z, P(1, None).y]\n# [2, 2, [], null]',
  'defaultdict and OrderedDict':
    'from collections import defaultdict, OrderedDict\nd = defaultdict(list)\nd["a"].append(1)\nRESULT = [d, OrderedDict([("x", 1)])]\n# [{"a": [1]}, {"x": 1}]',
  functools:
    'from functools import partial, lru_cache\n@lru_cache(maxsize=None)\ndef f(a, b): return a * b\nRESULT = partial(f, 2)(3)\n# 6',
  itertools:
    'import itertools\nRESULT = [*itertools.chain([1], (2,)), *itertools.chain.from_iterable([[3], [4]])]\n# [1, 2, 3, 4]',
  copies:
    'import copy\na = {"x": [1]}\nb = copy.deepcopy(a)\nb["x"].append(2)\nc = copy.copy(a)\nc["x"].append(3)\nRESULT = [a, b]\n# [{"x": [1, 3]}, {"x": [1, 2]}]',
  json: 'import json\nd = json.loads(\'{"a": [1, 1.0, null, true]}\')\nRESULT = [str(d["a"]), json.dumps({"k, :": (1, 2.0), "e": []}), json.dumps(["é"]), json.dumps(["é"], ensure_ascii=False)]\n# ["[1, 1.0, None, True]", "{\\"k, :\\": [1, 2.0], \\"e\\": []}", "[\\"\\\\u00e9\\"]", "[\\"é\\"]"]',
  'json with an indent':
    'import json\nRESULT = [json.dumps({"a": [1, {}], "b": {"c": 2}}, indent=2)]\n# ["{\\n  \\"a\\": [\\n    1,\\n    {}\\n  ],\\n  \\"b\\": {\\n    \\"c\\": 2\\n  }\\n}"]',
  'the lines of a text file':
    'import os\np = os.path.join(os.path.dirname(__file__), "t.txt")\nwith open(p, "w") as f: f.write("a\\r\\nb\\r")\nRESULT = [open(p).read(), open(p, newline="").read()]\n# ["a\\nb\\n", "a\\r\\nb\\r"]',
  inspect:
    'import inspect\nclass A:\n    def f(self): pass\nRESULT = [inspect.isclass(A), inspect.isfunction(A.f), [n for n, _ in inspect.getmembers(A, inspect.isfunction)]]\n# [true, true, ["f"]]',
  'annotations and defaults of parameters':
    'import inspect\nclass A:\n    def f(self, a: int, b: str = "x", *c, d: "D" = None): pass\np = inspect.signature(A().f).parameters\nRESULT = [list(p), [p["a"].annotation is int, p["d"].annotation], p["c"].annotation is inspect.Parameter.empty, p["b"].default, p["c"].kind == inspect.Parameter.VAR_POSITIONAL]\n# [["a", "b", "c", "d"], [true, "D"], true, "x", true]',
  'annotations that a module keeps as texts':
    'from __future__ import annotations\nimport inspect\ndef f(a: int): pass\nRESULT = inspect.signature(f).parameters["a"].annotation is int',
  paths:
    'import os\nRESULT = [os.path.join("a", "b.txt"), os.path.splitext("x/y.tar.gz"), os.path.basename("/a/b"), os.path.dirname("/a/b"), os.path.normpath("a/../b/./c")]\n# ["a/b.txt", ["x/y.tar", ".gz"], "b", "/a", "b/c"]',
  pathlib:
    'from pathlib import Path\np = Path("/a") / "b" / "c.txt"\nRESULT = [str(p), p.stem, p.suffix, p.parent.name, p.is_relative_to("/a")]\n# ["/a/b/c.txt", "c", ".txt", "b", true]',
  'names of paths that change':
    'from pathlib import Path\np = Path("/a/b.tar.gz")\nRESULT = [str(p.with_name("c")), str(p.with_stem("d")), str(p.with_suffix(".e")), list(p.parts), p.suffixes, p.is_absolute()]\n# ["/a/c", "/a/d.gz", "/a/b.tar.e", ["/", "a", "b.tar.gz"], [".tar", ".gz"], true]',
  'tables of a text':
    'import csv\nlines = [\'a,b\', \'1,"x, ""y"" z"\', \'\', \'2,\']\nRESULT = [list(csv.reader(lines)), list(csv.DictReader(lines)), list(csv.reader(["1;2"], delimiter=";"))]\n# [[["a", "b"], ["1", "x, \\"y\\" z"], [], ["2", ""]], [{"a": "1", "b": "x, \\"y\\" z"}, {"a": "2", "b": ""}], [["1", "2"]]]',
  'what is a dataclass':
    'from dataclasses import dataclass, is_dataclass\nfrom comfy_api.latest import io\n@dataclass\nclass A: pass\ns = io.Schema(node_id="a", category="b")\nRESULT = [is_dataclass(A), is_dataclass(A()), is_dataclass(s), is_dataclass("x")]\n# [true, true, true, false]',
  'a file of a package':
    'from importlib.resources import files\nimport os\nopen(os.path.join(os.path.dirname(__file__), "t.txt"), "w").write("x")\nRESULT = [files(__package__).name, (files(__package__) / "t.txt").name]\n# ["our-pack", "t.txt"]',
  'regular expressions that look back':
    'import re\nRESULT = [re.sub(r"(?<!^)(?=[A-Z])", "_", "LoadOne"), re.sub(r"(?<=a)b", "", "abb"), re.sub(r"(?<=a|b)c", "", "c")][:2]\n# ["Load_One", "ab"]',
  'regular expressions on class names':
    'import re\nRESULT = [re.sub(r"([a-z0-9])([A-Z])", r"\\1 \\2", "LoadImageNow"), re.findall(r"[A-Z][^A-Z]*", "LoadImage"), re.match(r"^(?P<k>\\w+)\\s*=\\s*(.*)$", "a = b").group("k", 2), re.split(r"[,;]\\s*", "a, b;c")]\n# ["Load Image Now", ["Load", "Image"], ["a", "b"], ["a", "b", "c"]]',
  ellipsis: 'RESULT = str(...)\n# "Ellipsis"',
  'sorting with a key':
    'RESULT = [sorted(["b", "A"], key=str.lower), max([1, 3, 2]), min("ba"), list(reversed([1, 2]))]\n# [["A", "b"], 3, "a", [2, 1]]',
  'any, all, zip, map, filter and enumerate':
    'RESULT = str([any([0, 1]), all([]), *zip("ab", [1, 2]), *map(lambda x: x * 2, [1, 2]), *filter(None, [0, 1]), *enumerate("a", 1)])\n# "[True, True, (\'a\', 1), (\'b\', 2), 2, 4, 1, (1, \'a\')]"',
  'isinstance with several classes':
    'RESULT = [isinstance(1, (str, int)), isinstance(True, int), isinstance("x", int), issubclass(bool, int)]\n# [true, true, false, true]',
  'variables through globals()':
    'globals()["RESULT"] = [1]\nglobals().update(other=2)\nRESULT.append(other)\n# [1, 2]',
  'assertions, del and pass':
    'assert True\nx = 1\ndel x\ntry:\n    x\nexcept NameError:\n    RESULT = "gone"\n# "gone"',
  'names that JavaScript knows':
    'd = {"__proto__": 1, "constructor": 2}\nclass A:\n    __proto__ = 3\n    hasOwnProperty = 4\nRESULT = [list(d), A.__proto__, A.hasOwnProperty]\n# [["__proto__", "constructor"], 3, 4]',
};

test.each(Object.entries(values))('the interpreter follows %s', (_title, code) => {
  expect(resultOf(code)).toEqual(saidBy(code));
});

/** What depends on something unknown is open, and only that. */
const open: Record<string, string> = {
  'methods that are not followed':
    'try: RESULT = ["a".swapcase(), (1,).count(1), 3][2]\nexcept AttributeError: RESULT = 0\n# 3',
  'what such a method may have changed': 'RESULT = {1, 2}\nRESULT.pop()',
  bytes: 'RESULT = b"ab"',
  'a way that raises is dropped':
    'import torch\nif torch.x():\n    raise RuntimeError()\nelse:\n    RESULT = 2\n# 2',
  'what one way changed is taken back for the other':
    'import torch\nx = [1]\nif torch.x():\n    x.append(2)\n    x.pop()\nelse:\n    RESULT = len(x)\nRESULT = x\n# [1]',
  'a loop over something unknown': 'import torch\nRESULT = 1\nfor x in torch.devices():\n    RESULT = 1\n# 1',
  'an unknown decorator keeps what it decorates':
    'import torch\n@torch.no_grad()\ndef f(): return 3\nRESULT = f()\n# 3',
  'an import that is not there succeeds':
    'try:\n    import cupy\n    RESULT = "there"\nexcept ImportError:\n    RESULT = "absent"\n# "there"',
  'recursion on something unknown ends':
    'import torch\ndef f(n):\n    return f(n - 1) if n else 0\nf(torch.n())\nRESULT = 1\n# 1',
  'an environment variable has the default that the pack gives':
    'import os\nRESULT = [os.environ.get("X", "d"), os.getenv("Y", "e")]\n# ["d", "e"]',
  'an environment variable without a default': 'import os\nRESULT = os.environ.get("X")',
  'whether an environment variable is set': 'import os\nRESULT = "X" in os.environ',
  'an attribute of a class derived from outside':
    'from torch import nn\nclass A(nn.Module):\n    x = 1\nRESULT = A.x\n# 1',
  'what the host adds to a list':
    'import folder_paths\nRESULT = ["None"] + folder_paths.get_filename_list("loras")',
  'the first choice, before those of the host':
    'import folder_paths\nfiles = folder_paths.get_filename_list("loras")\nfiles.insert(0, "None")\nRESULT = files[0]\n# "None"',
  'an item of a folder list': 'import folder_paths\nRESULT = folder_paths.get_filename_list("loras")[0]',
  'whether the host has files':
    'import folder_paths\nx = folder_paths.get_filename_list("loras")\nRESULT = [len(x), len(sorted(x)), "a" in x, x[0] if x else "none"]',
  'what a case names': 'RESULT = 0\nmatch {}:\n    case {**x}: RESULT = x',
  'what a case says that may not apply': 'RESULT = 0\nmatch [1]:\n    case 1 | None: RESULT = 1',
  'sorted JSON': 'import json\nRESULT = json.dumps({"b": 1, "a": 2}, sort_keys=True)',
  'widely indented JSON': 'import json\nRESULT = json.dumps([1], indent=10 ** 9)',
  'a path of the host': 'import folder_paths\nRESULT = "Put models into " + folder_paths.models_dir',
  'eval of a text that is unknown': 'import x\nRESULT = eval(x.text)',
};

test.each(Object.entries(open))('an unknown value stays unknown: %s', (_title, code) => {
  expect(resultOf(code)).toEqual(saidBy(code));
});
