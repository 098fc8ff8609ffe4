import { describe, expect, test } from '@jest/globals';
import { extract, nodeClass, nodeOf, resultOf, saidBy } from './packs.ts';

/*
 * A value that depends on something unknown is left open, and never asserted. A name that depends on something
 * unknown makes the extraction fail, or the node conditional.
 */

const unknown = 'import outside\n';
const folder = 'import os\nnames = os.listdir(os.path.dirname(__file__))\n';

/** What has to stay open; a comment at the end says what `RESULT` is where that is known. */
const values: Record<string, string> = {
  'a list appended to on one way only': 'x = ["cpu"]\nif outside.f():\n    x.append("cuda")\nRESULT = x',
  'lists of equal items on both ways':
    'x = []\nif outside.f(): x.append(1)\nelse: x.append(1)\nRESULT = x\n# [1]',
  'the length of a list that may be longer': 'x = [1]\nif outside.f(): x.append(2)\nRESULT = len(x)',
  'the sure beginning of a list': 'x = [1]\nif outside.f(): x.append(2)\nRESULT = x[0]\n# 1',
  'the end of a list that may be longer': 'x = [1]\nif outside.f(): x.append(2)\nRESULT = x[-1]',
  'whether a list holds what may be in it': 'x = [1]\nif outside.f(): x.append(2)\nRESULT = 2 in x',
  'keys after a break that may happen':
    'RESULT = {}\nfor k in "ab":\n    if outside.f(k): break\n    RESULT[k] = 1',
  'keys after a continue that may happen':
    'RESULT = {}\nfor k in "ab":\n    if outside.f(k): continue\n    RESULT[k] = 1',
  'keys before a break that may happen':
    'RESULT = {}\nfor k in "a":\n    RESULT[k] = 1\n    if outside.f(k): break\n# {"a": 1}',
  'keys after a break in a while loop':
    'RESULT = {}\nwhile len(RESULT) < 1:\n    if outside.f(): break\n    RESULT["a"] = 1',
  'what a function did before it may have returned':
    'RESULT = {}\ndef f():\n    if outside.f():\n        RESULT["a"] = 1\n        return\nf()',
  'a return out of a loop that may happen':
    'def f():\n    for k in (1, 2):\n        if outside.f(k): return k\n    return 0\nRESULT = f()',
  'the same value returned on every way':
    'def f():\n    for k in (1, 2):\n        if outside.f(k): return 0\n    return 0\nRESULT = f()\n# 0',
  'keys after a continue within try':
    'RESULT = {}\nfor k in "ab":\n    try:\n        if outside.f(k): continue\n    except ValueError: pass\n    RESULT[k] = 1',
  'a comprehension with an unknown condition': 'RESULT = [k for k in "ab" if outside.f(k)]',
  'a dict comprehension with an unknown condition': 'RESULT = {k: 1 for k in "ab" if outside.f(k)}',
  'filter by something unknown': 'RESULT = list(filter(outside.f, [1, 2]))',
  'a list sorted by an unknown key': 'RESULT = ["b", "a"]\nRESULT.sort(key=outside.key)',
  'sorted by an unknown key': 'RESULT = sorted(["b", "a"], key=outside.key())',
  'sorted in an unknown direction': 'RESULT = sorted(["b", "a"], reverse=outside.f())',
  'an item set at an unknown position': 'RESULT = ["a", "b"]\nRESULT[outside.n()] = "c"',
  'the same item set at an unknown position': 'RESULT = ["a"]\nRESULT[outside.n()] = "a"\n# ["a"]',
  'an unknown position deleted': 'RESULT = ["a", "b"]\ndel RESULT[outside.n()]',
  'an unknown position popped': 'RESULT = ["a", "b"]\nRESULT.pop(outside.n())',
  'an insertion at an unknown position': 'RESULT = ["a", "b"]\nRESULT.insert(outside.n(), "c")',
  'an unknown item removed': 'RESULT = ["a", "b"]\nRESULT.remove(outside.n())',
  'an unknown key deleted': 'RESULT = {"a": 1}\ndel RESULT[outside.n()]',
  'an unknown key popped': 'RESULT = {"a": 1}\nRESULT.pop(outside.n(), None)',
  'a list extended by something unknown': 'RESULT = ["a"]\nRESULT.extend(outside.f())',
  'a set updated with something unknown': 'x = {"a"}\nx.update(outside.f())\nRESULT = sorted(x)',
  'a dict passed to something outside': 'RESULT = {"a": 1}\noutside.change(RESULT)',
  'a list passed to something outside': 'RESULT = ["a"]\noutside.change(items=RESULT)',
  'a list that is logged':
    'import logging\nRESULT = ["a"]\nlogging.getLogger("x").info("%s", RESULT)\n# ["a"]',
  'keys of a dict that is open': 'd = {"a": 1}\nd.update(outside.f())\nRESULT = list(d)',
  'items of a dict that is open':
    'd = {"a": 1}\nd.update(outside.f())\nRESULT = {k: v for k, v in d.items()}',
  'a value that may be there, or the default': 'd = {}\nif outside.f(): d["a"] = 1\nRESULT = d.get("a", 2)',
  'a dict that was cleared': 'd = {"a": 1}\nd.update(outside.f())\nd.clear()\nRESULT = d\n# {}',
  'what follows an unknown position in a list': 'x = [*outside.f(), 1]\nRESULT = x[1]',
  'values unpacked from a list that may be longer':
    'x = [1]\nif outside.f(): x.append(2)\na, *b = x\nRESULT = b',
  'a capture of something unknown':
    'match outside.f():\n    case {"k": k}: RESULT = k\n    case [a, *b]: RESULT = b\n    case str(v) if v: RESULT = v\n    case _: RESULT = 0',
  'the else of a loop that may have ended':
    'RESULT = 0\nfor x in outside.f():\n    if x: break\nelse:\n    RESULT = 1',
  'the else of a loop that any item ends':
    'RESULT = 0\nfor x in outside.f():\n    RESULT = 2\n    break\nelse:\n    RESULT = 1',
  'the else of a loop that nothing ends': 'for x in outside.f(): pass\nelse: RESULT = 1\n# 1',
  'the else of a loop that ends after unknown items':
    'RESULT = 0\nfor x in [*outside.f(), 2]:\n    if x == 2: break\nelse:\n    RESULT = 1\n# 0',
  'keys of unknown keywords': 'd = dict(**outside.f())\nRESULT = {k: 1 for k in d}',
  'keys of a copy by a loop over unknown keywords':
    'd = dict(a=1, **outside.f())\nRESULT = {}\nfor k in d: RESULT[k] = 1',
  'unknown keys that a lookup makes':
    'from collections import defaultdict\nd = defaultdict(dict)\nfor k in outside.f(): d[k]["a"] = 1\nRESULT = dict(d)',
  'whether a class has what a condition gives it':
    'class A: pass\nif outside.f(): A.z = 1\nRESULT = [hasattr(A, "z"), getattr(A, "z", 7)]',
  'keys of JSON that are numbers': 'import json\nRESULT = list(json.loads(\'{"b": 1, "10": 2}\'))',
  'settings that people may write':
    'import configparser, os\nc = configparser.ConfigParser()\nc.read(os.path.join(os.path.dirname(__file__), "own.ini"))\nRESULT = [c.sections(), c.get("a", "b", fallback="d")]',
  'settings made of others':
    'import configparser\nc = configparser.ConfigParser()\nc.read_string("[a]\\nb = %(c)s\\nc = 1")\nRESULT = c["a"]["b"]',
  'settings that go on in the next line':
    'import configparser\nc = configparser.ConfigParser()\nc.read_string("[a]\\nb = 1\\n  2")\nRESULT = c["a"]["b"]',
  'the length of an open dict, by its base':
    'class D(dict):\n    def __len__(self): return super().__len__()\nd = D()\nd.update(outside.f())\nRESULT = d.__len__()',
  'words of an exception of Python': 'try: {}["a"]\nexcept KeyError as e: RESULT = str(e)',
  'a deque of a length': 'from collections import deque\nRESULT = list(deque([1, 2], maxlen=1))',
  'the home folder': 'import os\nRESULT = os.path.expanduser("~/x")',
  'bytes in a way that is not followed': 'RESULT = [len(b"a"), b"a" + b"b", b"a" == b"a"]',
  'the order of a set': 'RESULT = list({"b", "a"})',
  'a sorted set': 'RESULT = sorted({"b", "a"})\n# ["a", "b"]',
  'the order of texts joined from a set': 'RESULT = ", ".join({"b", "a"})',
  'the order of a folder': `${folder}RESULT = [f for f in names]`,
  'the order of a folder, by its paths':
    'from pathlib import Path\nRESULT = [p.name for p in Path(__file__).parent.iterdir()]',
  'what is first in a folder': `${folder}RESULT = names[0]`,
  'what is next in a folder': `${folder}RESULT = next(f for f in names)`,
  'part of a folder': `${folder}RESULT = names[:1]`,
  'names unpacked from a folder': `${folder}a, b = names\nRESULT = a`,
  'places in a folder': `${folder}RESULT = {n: i for i, n in enumerate(names)}`,
  'names of a folder beside others': `${folder}RESULT = {n: m for n, m in zip(names, "ab")}`,
  'a list that a loop over a folder fills': `${folder}x = []\nfor f in names: x += [f]\nRESULT = x`,
  'a dict that a loop over a folder fills': `${folder}x = {}\nfor f in names: x[f] = 1\nRESULT = list(x)`,
  'what the last name of a folder leaves': `${folder}for f in names: x = f\nRESULT = [f, x]`,
  'what every name of a folder leaves': `${folder}for f in names: x = True\nRESULT = x\n# true`,
  'a folder sorted by what two names share': `${folder}RESULT = sorted(names, key=lambda n: n[-2:])`,
  'the first match in a folder': `${folder}def f():\n    for n in names:\n        if n.endswith(".py"): return n\nRESULT = f()`,
  'the only match in a folder': `${folder}for n in names:\n    if n == "a.py":\n        RESULT = n\n        break\n# "a.py"`,
  'a name at which a loop over a folder breaks': `${folder}for n in names:\n    RESULT = n\n    break`,
  'what a generator takes from a folder': `${folder}def g():\n    yield from names\nRESULT = next(g())`,
  'a place in a folder': `${folder}RESULT = names.index("a.py")`,
  'a text that grows by a folder': `${folder}x = ""\nfor n in names: x += n\nRESULT = x`,
  'a number that grows by a folder': `${folder}x = 0\nfor n in names: x += 1\nRESULT = x\n# 2`,
  'members that are not modeled':
    'import configparser, hashlib, re\nfrom pathlib import Path\nRESULT = [hashlib.md5().name, configparser.ConfigParser().getint("a", "b"), Path("a").as_uri(), re.compile("a").groups, hasattr(Path("a"), "walk")]',
  'a map of a chain that changes':
    'from collections import ChainMap\nb = {"a": 1}\nChainMap(b).update({"a": 2, "z": 3})\nRESULT = list(b)',
  'a file of which a part was read':
    'import os\nf = open(os.path.join(os.path.dirname(__file__), "__init__.py"))\nf.readline()\nRESULT = f.read()',
  'settings that are changed':
    'import configparser\nc = configparser.ConfigParser()\nc.read_string("[a]\\nx=1")\nc.set("a", "x", "2")\nRESULT = c.get("a", "x")',
  'a sorted folder': `${folder}names.sort()\nRESULT = names + names[1:]\n# ["__init__.py", "a.py", "a.py"]`,
  'a name of a character': 'RESULT = "\\N{BULLET} a"',
  'a name of a character in an f-string': 'RESULT = f"\\N{BULLET} {1}"',
  'a raw text with the letters of a name': 'RESULT = r"\\N{BULLET}"\n# "\\\\N{BULLET}"',
};

test.each(Object.entries(values))(
  'a value that depends on something unknown stays open: %s',
  (_title, code) => {
    expect(resultOf(unknown + code, { 'a.py': '' })).toEqual(saidBy(code));
  },
);

test('keeps known choices of an unknown number or order, and says so', () => {
  const { input_types, return_types, open } = nodeOf(
    `import folder_paths\nclass A:\n    @classmethod\n    def INPUT_TYPES(s): return {"required": {"m": (["None", *folder_paths.get_filename_list("a")],), "s": ([*{"a", "b"}],)}}\n    RETURN_TYPES = (folder_paths.get_filename_list("a"), "INT")\n    FUNCTION = "f"\nNODE_CLASS_MAPPINGS = {"A": A}`,
  );

  expect(input_types).toBe('{"required":{"m":[["None"]],"s":[["a","b"]]}}');
  expect(return_types).toBe('[[],"INT"]');
  expect(open).toEqual([
    'input_types: .required.m[0][1] the host fills this list',
    'input_types: .required.s[0][] a set has no order',
    'return_types: [0][0] the host fills this list',
    'return_names: [0][0] the host fills this list',
  ]);
});

/** What Python gives where JavaScript gives something else, or where a short cut was wrong. */
const exact: Record<string, string> = {
  'the length of characters that JavaScript counts twice': 'RESULT = len("🎨🎬")\n# 2',
  'whole numbers of a width': 'RESULT = [f"{-3:05d}", f"{7:3d}"]\n# ["-0003", "  7"]',
  'a float of a width': 'RESULT = f"{2.5:.0f}"\n# "2"',
  'matches and searches':
    'import re\nRESULT = [re.match("b", "ab"), bool(re.search("b", "ab"))]\n# [null, true]',
  'the documentation of the module': '"""Ours."""\nRESULT = __doc__\n# "Ours."',
  'a list derived from list is filled once':
    'class L(list): pass\nclass D(dict): pass\nRESULT = [L([1]), D({"a": 1}, b=2)]\n# [[1], {"a": 1, "b": 2}]',
  'a dict of its own whose __init__ does not call the one of dict':
    'class D(dict):\n    def __init__(self, kind, data=None):\n        self.data = data\n        for k, v in data.items(): self[k] = v\nRESULT = D(kind="X", data={"a": 1})\n# {"a": 1}',
  hashes:
    'import hashlib\nm = hashlib.sha256(b"ab")\nm.update("cé".encode())\nRESULT = [m.hexdigest()[:12], m.digest().hex()[:4], hashlib.md5(b"x").hexdigest()[:6]]\n# ["ab2b4afd2eb5", "ab2b", "9dd4e4"]',
  base64:
    'import base64\nRESULT = [base64.b64encode(b"\\xfb\\xff").decode(), base64.urlsafe_b64encode(b"\\xfb\\xff").decode("ascii"), base64.b64decode("aMOp").decode("utf-8")]\n# ["+/8=", "-_8=", "hé"]',
  'settings of TOML':
    'import tomllib\nRESULT = tomllib.loads("a = [1, 2.0]\\n[t.u]\\nv = true")\n# {"a": [1, 2.0], "t": {"u": {"v": true}}}',
  'settings of sections':
    'import configparser\nc = configparser.ConfigParser()\nc.read_string("; note\\n[a]\\nB = yes\\nn: 3\\n[c]\\nx=%(y)s\\ny=1")\nRESULT = [c.sections(), c["a"]["B"], "b" in c["a"], dict(c["a"]), c.get("a", "z", fallback="d"), c.has_option("q", "z"), c.has_section("c"), c.options("a"), c["c"].get("y")]\n# [["a", "c"], "yes", true, {"b": "yes", "n": "3"}, "d", false, true, ["b", "n"], "1"]',
  'a table, row by row':
    'import csv\nr = csv.reader(["h,i", "", \'1,"2 ""x"""\'])\nd = csv.DictReader(["h,i", "", "1,2,3", "4"])\nRESULT = [next(r), list(r), d.fieldnames, [dict(x).get("i") for x in d]]\n# [["h", "i"], [[], ["1", "2 \\"x\\""]], ["h", "i"], ["2", null]]',
  'maps in a chain':
    'from collections import ChainMap\nbase = {"a": 1}\nc = ChainMap({}, base)\nbase["b"] = 2\nc["a"] = 3\nn = c.new_child({"z": 0})\nRESULT = [dict(c), base, sorted(n), n.parents["a"], len(c), c.get("q", 7), "b" in c]\n# [{"a": 3, "b": 2}, {"a": 1, "b": 2}, ["a", "b", "z"], 3, 2, 7, true]',
  paths:
    'from pathlib import Path\nimport os\np = Path("/x/./y//a.tar.gz")\nRESULT = [str(p.with_name("b")), str(p.with_stem("q")), p.anchor, Path("a.").suffix, Path("..x.y").suffixes, os.path.splitext("..a"), os.path.split("/a/b")]\n# ["/x/y/b", "/x/y/q.gz", "/", "", [".y"], ["..a", ""], ["/a", "b"]]',
  'JSON with long numbers and a float':
    'import json\nx = json.loads(b"[12345678901234567890123, 1.0]")\nRESULT = [str(x[0]), x[1]]\n# ["12345678901234567890123", 1.0]',
  'copies of what has its own way':
    'import copy\nfrom collections import defaultdict\nclass A:\n    x = 1\n    def __deepcopy__(self, memo):\n        b = A()\n        b.x = 5\n        return b\nd = copy.deepcopy(defaultdict(list))\nd["a"].append(1)\nRESULT = [copy.deepcopy(A()).x, dict(d)]\n# [5, {"a": [1]}]',
  'texts of exceptions':
    'def said(f):\n    try: f()\n    except Exception as e: return [str(e), repr(e)]\ndef a(): assert not 1, "no"\ndef k(): raise KeyError("k")\ndef v(): raise ValueError("v", 1)\nRESULT = [said(a), said(k), said(v)]\n# [["no", "AssertionError(\'no\')"], ["\'k\'", "KeyError(\'k\')"], ["(\'v\', 1)", "ValueError(\'v\', 1)"]]',
  'TOML that is not':
    'import tomllib\ntry: RESULT = tomllib.loads("a = ")\nexcept tomllib.TOMLDecodeError: RESULT = "bad"\n# "bad"',
  'an exception of its own words':
    'class E(Exception):\n    def __init__(self, a): super().__init__(f"no {a}")\ntry: raise E(3)\nexcept E as e: RESULT = [str(e), e.args]\n# ["no 3", ["no 3"]]',
  'fields that are equal':
    'from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int\nRESULT = [P(1) == P(1), P(1) == P(2), P(1) == 1]\n# [true, false, false]',
  'a list of 2,400 numbers': 'RESULT = len(str(list(range(2400))))\n# 13290',
};

describe('a known value', () => {
  test.each(Object.entries(exact))('equals the value in Python: %s', (_title, code) => {
    expect(resultOf(code)).toEqual(saidBy(code));
  });

  test('follows long dropdowns, in steps that grow with their length', () => {
    const steps = (count: number) =>
      extract(
        `class A:\n    @classmethod\n    def INPUT_TYPES(s): return {"required": {"x": ([f"option number {i}" for i in range(${count})],)}}\n    FUNCTION = "f"\nNODE_CLASS_MAPPINGS = {"A": A}`,
      );

    expect(steps(2_400).nodes[0]?.input_types).toContain('option number 2399');
    expect(steps(2_000).steps).toBeLessThan(2.2 * steps(1_000).steps);
  });
});

const one = nodeClass('One');

/** What becomes of names: a comment at the end has the nodes, `?` after conditional ones, and why it failed. */
const names: Record<string, string> = {
  'captures in a loop over something unknown':
    'M = NODE_CLASS_MAPPINGS = {"One": One}\nfor f in outside.fields():\n    match f.name:\n        case str(v) if v.startswith("t"): M[v] = One\n# One | It may list more nodes: a part of what is matched.',
  'names counted in a loop over something unknown':
    'NODE_CLASS_MAPPINGS = {"One": One}\nn = 0\nfor x in outside.f():\n    n += 1\n    NODE_CLASS_MAPPINGS[f"N{n}"] = One\n# One N1? | It may list more nodes: a text with an unknown part.',
  'names counted while something is unknown':
    'NODE_CLASS_MAPPINGS = {"One": One}\nn = 0\nwhile outside.f():\n    n += 1\n    NODE_CLASS_MAPPINGS[f"N{n}"] = One\n# One N1? | It may list more nodes: a text with an unknown part.',
  'JSON with a number that only Python reads':
    'import json\nNODE_CLASS_MAPPINGS = {"One": One, json.loads("[NaN]")[0]: One}\n# One | It may list more nodes: JSON that only Python reads.',
  'nodes that an optional import decides':
    'NODE_CLASS_MAPPINGS = {"One": One}\ntry:\n    from outside import y\n    NODE_CLASS_MAPPINGS.update({"Two": One})\nexcept ImportError:\n    pass\n# One Two?',
  'nodes of a module that needs what may not be there, and of one that asks for it':
    'import importlib, os\nNODE_CLASS_MAPPINGS = {"One": One}\ndef load(name, key):\n    try:\n        importlib.import_module(name)\n        NODE_CLASS_MAPPINGS[key] = One\n    except Exception: pass\nload("cv2", "Asked")\nload("scikit", "Also")\nload("missing", "Two")\ntry:\n    os.listdir("/models")\n    NODE_CLASS_MAPPINGS["Three"] = One\nexcept OSError: pass\n# One Asked Also Two? Three?',
  'nodes after a call that may raise what is handled':
    'def check():\n    if outside.f(): raise ImportError("too old")\ntry:\n    check()\n    NODE_CLASS_MAPPINGS = {"A": One, "One": One}\nexcept ImportError: NODE_CLASS_MAPPINGS = {"One": One}\n# A? One',
  'nodes that exist only with another pack':
    'import nodes\ntry:\n    Other = nodes.NODE_CLASS_MAPPINGS.get("Other")\n    if Other is None:\n        raise RuntimeError("it is not there")\n    IS_THERE = True\nexcept (ImportError, RuntimeError):\n    IS_THERE = False\nif IS_THERE:\n    class Two(Other): pass\n    NODE_CLASS_MAPPINGS = {"Two": Two}\nelse:\n    NODE_CLASS_MAPPINGS = {}\nNODE_CLASS_MAPPINGS["One"] = One\n# Two? One',
  'nodes listed after an exception that may be raised, and where it is handled':
    'NODE_CLASS_MAPPINGS = {"One": One}\ntry:\n    if outside.f(): raise KeyError("x")\n    NODE_CLASS_MAPPINGS["A"] = One\nexcept ValueError: NODE_CLASS_MAPPINGS["C"] = One\nexcept KeyError:\n    NODE_CLASS_MAPPINGS["B"] = One\n# One A? B?',
  'nodes listed where an exception that may be raised is raised again':
    'try:\n    if outside.f(): raise RuntimeError("x")\n    NODE_CLASS_MAPPINGS = {"One": One}\nexcept RuntimeError:\n    raise\n# One',
  'nodes next to an import of what the host requires':
    'NODE_CLASS_MAPPINGS = {}\ntry:\n    import torch, json\n    NODE_CLASS_MAPPINGS["One"] = One\nexcept ImportError:\n    pass\n# One',
  'nodes after an import that must succeed':
    'NODE_CLASS_MAPPINGS = {}\ntry:\n    import outside.y\n    NODE_CLASS_MAPPINGS["One"] = One\nexcept ImportError:\n    raise\n# One',
  'exec of a text':
    'NODE_CLASS_MAPPINGS = {"One": One}\nexec("NODE_CLASS_MAPPINGS[\'B\'] = One")\n# One | It may list more nodes: it runs a text.',
  'a mapping that something outside got':
    'NODE_CLASS_MAPPINGS = {"One": One}\noutside.register(NODE_CLASS_MAPPINGS)\n# One | It may list more nodes: it is passed to outside.register.',
  'a loop over a dict that is open':
    'd = {"One": One}\nd.update(outside.f())\nNODE_CLASS_MAPPINGS = {}\nfor k, v in d.items(): NODE_CLASS_MAPPINGS[k] = v\n# One | It may list more nodes: it comes from outside.f().',
  'a sure node, and a dict that lists it under a condition':
    'd = {}\nif outside.f(): d["One"] = d["Two"] = One\na = {"One": One}\na.update(d)\nb = {"One": One}\nb |= d\nNODE_CLASS_MAPPINGS = a | b | ({"One": One} | d)\n# One Two?',
  'nodes next to a guarded import of what the host, the pack or a folder of it declares':
    'NODE_CLASS_MAPPINGS = {}\ntry:\n    import requests, cv2, argostranslate, segment_anything\n    NODE_CLASS_MAPPINGS["A"] = One\nexcept ImportError: pass\ntry:\n    import nowhere\n    NODE_CLASS_MAPPINGS["B"] = One\nexcept ImportError: pass\n# A B?',
  'conditional nodes copied in a loop':
    'd = {"One": One}\nif outside.f(): d["Two"] = One\nNODE_CLASS_MAPPINGS = {k: v for k, v in d.items()}\n# One Two?',
  'nodes that a condition filters':
    'NODE_CLASS_MAPPINGS = {k: One for k in ("A", "B") if outside.has(k)}\n# A? B?',
  'nodes after a continue':
    'NODE_CLASS_MAPPINGS = {}\nfor k in ("A", "B"):\n    if outside.skips(k): continue\n    NODE_CLASS_MAPPINGS[k] = One\n# A? B?',
  'nodes registered before a return that may happen':
    'NODE_CLASS_MAPPINGS = {"One": One}\ndef f():\n    if outside.f():\n        NODE_CLASS_MAPPINGS["A"] = One\n        return\n    NODE_CLASS_MAPPINGS["B"] = One\nf()\n# One B? A?',
  'nodes in an order that is unknown':
    'NODE_CLASS_MAPPINGS = {}\nfor k in sorted(["B", "A"], key=outside.key): NODE_CLASS_MAPPINGS[k] = One\n# B A',
  'a name of a character':
    'NODE_CLASS_MAPPINGS = {"One": One, "A\\N{BULLET}": One}\n# One | It may list more nodes: a character by its name.',
  'a list of the newer form that may be longer':
    'from comfy_api.latest import ComfyExtension, io\ndef make(name):\n    class A(io.ComfyNode):\n        @classmethod\n        def define_schema(cls): return io.Schema(node_id=name, inputs=[], outputs=[])\n    return A\nclass E(ComfyExtension):\n    async def get_node_list(self):\n        nodes = [make("A")]\n        if outside.f(): nodes.append(make("B"))\n        return nodes\nasync def comfy_entrypoint(): return E()\n# A B?',
};

test.each(Object.entries(names))('names that depend on something unknown stay open: %s', (_title, code) => {
  const extraction = extract({
    '__init__.py': unknown + one + code,
    'requirements.txt': 'opencv-python\nScikit',
    'translate/requirements.txt':
      'argostranslate>=1\ngit+https://github.com/facebookresearch/segment-anything.git@main',
  });
  const nodes = extraction.nodes.map(({ name, conditional }) => name + (conditional ? '?' : '')).join(' ');
  // Where it is, failures.test.ts says.
  const reason = extraction.reason?.replace(/ \(__init__\.py:\d+\)/, '');

  expect([nodes, reason].filter(Boolean).join(' | ')).toBe(code.slice(code.lastIndexOf('\n# ') + 3));
});
