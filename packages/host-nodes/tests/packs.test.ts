import { describe, expect, test } from '@jest/globals';
import { extract, namesOf, nodeClass, nodeOf, type PackFiles, saidBy } from './packs.ts';

const one = nodeClass('One');
const two = nodeClass('Two');

/** Ways in which packs list their nodes; a comment at the end of the first file has the names. */
const listings: Record<string, string | [code: string, others: PackFiles]> = {
  'a dict in __init__.py': `${one}NODE_CLASS_MAPPINGS = {"One": One}\n# ["One"]`,
  'a relative import': [
    'from .nodes import NODE_CLASS_MAPPINGS\n# ["One"]',
    { 'nodes.py': `${one}NODE_CLASS_MAPPINGS = {"One": One}` },
  ],
  'star imports with __all__': [
    'from .nodes import *\n# ["One"]',
    { 'nodes.py': `${one}__all__ = ["NODE_CLASS_MAPPINGS"]\nNODE_CLASS_MAPPINGS = {"One": One}` },
  ],
  'several modules merged': [
    'from .a import M as A\nfrom .b import M as B\nNODE_CLASS_MAPPINGS = {**A, **B}\n# ["One", "Two"]',
    { 'a.py': `${one}M = {"One": One}`, 'b.py': `${two}M = {"Two": Two}` },
  ],
  'a package in a package': [
    'from .sub.deep import NODE_CLASS_MAPPINGS\n# ["Shared One"]',
    {
      'sub/__init__.py': '',
      'sub/deep.py': `from .. import shared\n${one}NODE_CLASS_MAPPINGS = {shared.NAME: One}`,
      'shared.py': 'NAME = "Shared One"',
    },
  ],
  'modules found by listing a folder': [
    'import os, importlib\nNODE_CLASS_MAPPINGS = {}\nfor f in os.listdir(os.path.join(os.path.dirname(__file__), "nodes")):\n    if f.endswith(".py"):\n        m = importlib.import_module(f".nodes.{f[:-3]}", package=__name__)\n        NODE_CLASS_MAPPINGS.update(m.NODE_CLASS_MAPPINGS)\n# ["One", "Two"]',
    {
      'nodes/a.py': `${one}NODE_CLASS_MAPPINGS = {"One": One}`,
      'nodes/b.py': `${two}NODE_CLASS_MAPPINGS = {"Two": Two}`,
    },
  ],
  'modules found by globbing': [
    'import glob, os, sys, importlib.util\nNODE_CLASS_MAPPINGS = {}\nfor file in glob.glob(os.path.join(os.path.dirname(__file__), "py", "*.py")):\n    spec = importlib.util.spec_from_file_location("x", file)\n    module = importlib.util.module_from_spec(spec)\n    spec.loader.exec_module(module)\n    NODE_CLASS_MAPPINGS.update(module.NODE_CLASS_MAPPINGS)\n# ["One"]',
    { 'py/a.py': `${one}NODE_CLASS_MAPPINGS = {"One": One}` },
  ],
  'modules found by pathlib': [
    'from pathlib import Path\nimport importlib\nNODE_CLASS_MAPPINGS = {}\nfor p in (Path(__file__).parent / "n").glob("*.py"):\n    NODE_CLASS_MAPPINGS.update(importlib.import_module("." + p.stem, __package__ + ".n").M)\n# ["One"]',
    { 'n/a.py': `${one}M = {"One": One}` },
  ],
  'modules found by pkgutil': [
    'import pkgutil, importlib\nfrom . import n\nNODE_CLASS_MAPPINGS = {}\nfor info in pkgutil.iter_modules(n.__path__):\n    NODE_CLASS_MAPPINGS.update(importlib.import_module(f"{n.__name__}.{info.name}").M)\n# ["One"]',
    { 'n/__init__.py': '', 'n/a.py': `${one}M = {"One": One}` },
  ],
  'a list in a JSON file': [
    `import json, os\n${one}with open(os.path.join(os.path.dirname(__file__), "names.json")) as f:\n    NODE_CLASS_MAPPINGS = {n: One for n in json.load(f)}\n# ["A", "B"]`,
    { 'names.json': '["A", "B"]' },
  ],
  'a decorator that registers':
    'NODE_CLASS_MAPPINGS = {}\ndef register(name):\n    def inner(cls):\n        NODE_CLASS_MAPPINGS[name] = cls\n        return cls\n    return inner\n@register("Deco")\nclass A:\n    pass\n# ["Deco"]',
  'a metaclass that registers':
    'NODE_CLASS_MAPPINGS = {}\nclass M(type):\n    def __init__(cls, name, bases, ns):\n        if bases: NODE_CLASS_MAPPINGS[name] = cls\nclass Base(metaclass=M): pass\nclass A(Base): pass\n# ["A"]',
  'names made of class names': `import re\n${nodeClass('LoadImageNow')}NODE_CLASS_MAPPINGS = {re.sub(r"(?<!^)(?=[A-Z])", " ", c.__name__) if False else re.sub(r"([a-z])([A-Z])", r"\\1 \\2", c.__name__): c for c in (LoadImageNow,)}\n# ["Load Image Now"]`,
  'members of a module': [
    'import inspect\nfrom . import nodes\nNODE_CLASS_MAPPINGS = {n: c for n, c in inspect.getmembers(nodes, inspect.isclass) if hasattr(c, "FUNCTION")}\n# ["One"]',
    { 'nodes.py': `class Helper: pass\n${one}` },
  ],
  'members of the module itself': `import sys, inspect\nclass Helper: pass\n${one}NODE_CLASS_MAPPINGS = {n: c for n, c in inspect.getmembers(sys.modules[__name__], inspect.isclass) if hasattr(c, "FUNCTION")}\n# ["One"]`,
  'the names of the module itself': `import sys\n${one}ours = sys.modules[__name__]\nNODE_CLASS_MAPPINGS = {n: getattr(ours, n) for n in dir(ours) if n.startswith("On")}\n# ["One"]`,
  'classes made by three-argument type':
    'NODE_CLASS_MAPPINGS = {n: type(n, (), {"FUNCTION": "run", "RETURN_TYPES": ()}) for n in ("A", "B")}\n# ["A", "B"]',
  'globals by name': `${one}NODE_CLASS_MAPPINGS = {n: globals()[n] for n in ["One"]}\n# ["One"]`,
  'sys.path': [
    'import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "lib"))\nimport ours\nNODE_CLASS_MAPPINGS = ours.M\n# ["One"]',
    { 'lib/ours.py': `${one}M = {"One": One}` },
  ],
  'an absolute import of custom_nodes.<own name>': [
    'from custom_nodes.our_pack.nodes import M as NODE_CLASS_MAPPINGS\n# ["One"]',
    { 'nodes.py': `${one}M = {"One": One}` },
  ],
  'circular imports': [
    'from .a import M as NODE_CLASS_MAPPINGS\n# ["One"]',
    {
      'a.py': `NAME = "One"\nfrom . import b\n${one}M = {b.NAME: One}`,
      'b.py': 'from . import a\nNAME = a.NAME',
    },
  ],
  'a fallback for a missing module': `try:\n    from .gone import X\nexcept ImportError:\n    X = "fallback"\n${one}NODE_CLASS_MAPPINGS = {X: One}\n# ["fallback"]`,
  'a second import of a module that failed fails too': [
    `try:\n    from . import half\nexcept ImportError:\n    try:\n        from .half import X\n    except ImportError:\n        X = "fallback"\n${one}NODE_CLASS_MAPPINGS = {X: One}\n# ["fallback"]`,
    { 'half.py': 'X = "half"\nraise ImportError("no numpy")' },
  ],
  'a statement that fails is skipped': `class Broken(1): pass\nprint(undefined_name)\n${one}NODE_CLASS_MAPPINGS = {"One": One}\n# ["One"]`,
  'a node whose class failed keeps its name': `Broken = make(undefined_name)\nNODE_CLASS_MAPPINGS = {"Broken": Broken}\n# ["Broken"]`,
  'a byte order mark, form feeds and Windows line ends': `\uFEFFimport os\r\n\fNAME = "Bom"\r\n${one.replaceAll('\n', '\r\n')}NODE_CLASS_MAPPINGS = {NAME: One}\r\n\n# ["Bom"]`,
  'names in any script, with bars and slashes': `${one}NODE_CLASS_MAPPINGS = {"画像 | a/b (x)": One, "__proto__": One}\n# ["画像 | a/b (x)", "__proto__"]`,
  'a file that the pack writes and reads': `import json, os\np = os.path.join(os.path.dirname(__file__), "c.json")\nif not os.path.exists(p):\n    with open(p, "w") as f:\n        json.dump({"name": "Written"}, f)\nwith open(p) as f:\n    c = json.load(f)\n${one}NODE_CLASS_MAPPINGS = {c["name"]: One}\n# ["Written"]`,
  'a module registered in sys.modules by hand': `import sys\nsys.modules["alias"] = 1\n${one}NODE_CLASS_MAPPINGS = {"One": One}\n# ["One"]`,
  'the newer entry point':
    'from comfy_api.latest import ComfyExtension, io\nclass A(io.ComfyNode):\n    @classmethod\n    def define_schema(cls):\n        return io.Schema(node_id="NewA", inputs=[], outputs=[])\nclass E(ComfyExtension):\n    async def get_node_list(self):\n        return [A]\nasync def comfy_entrypoint():\n    return E()\n# ["NewA"]',
  'files for pages only': 'WEB_DIRECTORY = "web"\n# []',
  'an empty list': 'NODE_CLASS_MAPPINGS = {}\n# []',
  'the classes among all names, and no module': [
    'import inspect\nfrom . import nodes\nNODE_CLASS_MAPPINGS = {n: c for n, c in inspect.getmembers(nodes) if inspect.isclass(c)}\nfor n, c in vars(nodes).items():\n    if isinstance(c, type) and c.__module__ == nodes.__name__: NODE_CLASS_MAPPINGS[n + "2"] = c\n# ["Mapping", "One", "One2"]',
    {
      'nodes.py': `import os, torch, requests as r\nimport PIL.Image\nfrom PIL import ImageOps\nfrom shutil import which\nfrom typing import Union\nfrom collections.abc import Mapping\nw = which("x")\n${one}`,
    },
  ],
  'modules by __import__, with and without what is wanted from them': [
    'import sys\nNODE_CLASS_MAPPINGS = dict(__import__(f"{__name__}.a", fromlist=["M"]).M)\nNODE_CLASS_MAPPINGS.update(__import__("b", globals(), locals(), ["M"], 1).M)\nNODE_CLASS_MAPPINGS["Root"] = __import__(__name__ + ".b").a.One\nNODE_CLASS_MAPPINGS["Known"] = sys.modules[__name__ + ".a"].One\n# ["One", "Two", "Root", "Known"]',
    { 'a.py': `${one}M = {"One": One}`, 'b.py': `${two}M = {"Two": Two}` },
  ],
  'loaders whose module runs when it is executed, and by its own name then': [
    'import importlib.util, os, sys\nNODE_CLASS_MAPPINGS = {}\nfor name in ("a", "broken", "b"):\n    path = os.path.join(__path__[0], name + ".py")\n    spec = importlib.util.spec_from_file_location(name, path)\n    module = importlib.util.module_from_spec(spec)\n    sys.modules[name] = module\n    try:\n        spec.loader.exec_module(module)\n        NODE_CLASS_MAPPINGS.update(module.M)\n    except Exception: pass\n# ["One", "Two", "Again"]',
    {
      'a.py': `${one}M = {"One": One}`,
      'broken.py': 'raise ValueError("no")',
      'b.py': `from a import One\n${two}M = {"Two": Two, "Again": One}`,
    },
  ],
  'contexts that swallow an exception, keys that are not there, and a deque': `${one}from collections import deque\nfrom contextlib import suppress\nNODE_CLASS_MAPPINGS = {}\nwith suppress(ImportError, KeyError):\n    NODE_CLASS_MAPPINGS["A"] = One\n    from .gone import more\nNODE_CLASS_MAPPINGS.pop("gone", None)\nwaiting = deque(["B"])\nwaiting.appendleft("C")\nwhile waiting: NODE_CLASS_MAPPINGS[waiting.popleft()] = One\n# ["A", "C", "B"]`,
  'names that decorators pass on, and hooks that are class methods': `${one}from functools import wraps\nimport os\nM = NODE_CLASS_MAPPINGS = {}\ndef node(cls):\n    @wraps(cls, updated=())\n    class Wrapped(cls): pass\n    M[Wrapped.__name__] = Wrapped\n    return Wrapped\n@node\nclass Shown(One): pass\nclass Base(One):\n    def __init_subclass__(cls, /, *, key="", **more):\n        super().__init_subclass__(**more)\n        M[key] = cls\n    def __class_getitem__(cls, key): return type(key, (One,), {})\nclass Mixed(Base, key="Key"):\n    def __init_subclass__(cls, **more): super().__init_subclass__(key="Deep", **more)\nclass Deep(Mixed): pass\nM["Item"] = Base["Item"]\nfor a in ("X1", "Y"): M[a] = One\nM.update({e.name[:-3]: One for e in os.scandir(__path__[0]) if e.is_file()})\nfor key in M.keys() & {"X1", "Z"}: M[key + "!"] = One\n# ["Shown", "Key", "Deep", "Item", "X1", "Y", "__init__", "X1!"]`,
  'a list that the module makes when it is asked': `${one}def __getattr__(name):\n    if name == "NODE_CLASS_MAPPINGS": return {"One": One}\n    raise AttributeError(name)\n# ["One"]`,
  'what a registry, and modules with a __getattr__, say that they hold': [
    `from . import lazy
NODE_CLASS_MAPPINGS = {**lazy.Registry()}
def add(key, load, *errors):
    try:
        NODE_CLASS_MAPPINGS.update(load() if callable(load) else load)
        NODE_CLASS_MAPPINGS[key] = lazy.One
    except errors: pass
add("None", None, TypeError)
add("Triple", ["abc"], ValueError)
add("Two", lambda: getattr(lazy, "gone", {}))
try:
    from .lazy import gone
    NODE_CLASS_MAPPINGS["Gone"] = lazy.One
except ImportError: pass
(lambda **more: NODE_CLASS_MAPPINGS.update(more))(**lazy.Registry("Key"))\n# ["L1", "L2", "Two", "Key"]`,
    {
      'lazy.py': `${one}class Registry:
    def __init__(self, *names): self.names = names or ("L1", "L2")
    def keys(self): return self.names
    def __iter__(self): return iter(self.names)
    def __getitem__(self, key): return One
def __getattr__(name): raise AttributeError(name)`,
    },
  ],
  'the classes derived from a base': `${one}class A(One): pass\nclass B(A): pass\ndef walk(c):\n    for d in c.__subclasses__():\n        yield d\n        yield from walk(d)\nNODE_CLASS_MAPPINGS = {c.__name__: c for c in walk(One)}\n# ["A", "B"]`,
  'a class that has its own answer to the host': `${one}class Answer:\n    node_id = "Mine"\n    display_name = "My own"\nsetattr(One, "GET_SCHEMA", lambda: Answer())\nclass E:\n    async def get_node_list(self):\n        return [One]\nasync def comfy_entrypoint():\n    return E()\n# ["Mine"]`,
};

describe('the nodes that a pack lists', () => {
  test("imports Python's library in a pack of the same name", () => {
    const { nodes } = extract(`import json\n${one}NODE_CLASS_MAPPINGS = {json.loads("[5]")[0] * "J": One}`, {
      name: 'json',
    });

    expect(nodes.map(({ name }) => name)).toEqual(['JJJJJ']);
  });

  test('takes the only top folder for the pack', () => {
    const n = `${one}NODE_CLASS_MAPPINGS = {"One": One}`;

    expect(namesOf({ 'p-1/__init__.py': 'from .n import NODE_CLASS_MAPPINGS', 'p-1/n.py': n })).toEqual([
      'One',
    ]);
  });

  test.each(Object.entries(listings))('reads the nodes that a pack lists: %s', (_title, row) => {
    const [code, others] = typeof row === 'string' ? [row] : row;
    const files = { '__init__.py': code, ...others };

    expect(extract(files)).toMatchObject({ status: 'success' });
    expect(namesOf(files)).toEqual(saidBy(code));
  });

  test('says which are listed only under an unknown condition', () => {
    const { nodes, status } = extract(
      `import torch\n${one}${two}NODE_CLASS_MAPPINGS = {"One": One}\nif torch.cuda.is_available():\n    NODE_CLASS_MAPPINGS["Two"] = Two`,
    );

    expect(status).toBe('success');
    expect(nodes.map(({ name, conditional }) => [name, conditional])).toEqual([
      ['One', false],
      ['Two', true],
    ]);
  });
});

/** Fields of one node, by what its class says. */
const fields: Record<string, [code: string, fields: object]> = {
  'everything said': [
    nodeClass(
      'A',
      '    DESCRIPTION = "d"\n    RETURN_NAMES = ("picture",)\n    OUTPUT_IS_LIST = (True,)\n    DEPRECATED = True\n    EXPERIMENTAL = True',
    ),
    {
      category: 'ours',
      description: 'd',
      function: 'run',
      deprecated: true,
      experimental: true,
      input_types: '{"required":{"image":["IMAGE"]}}',
      return_types: '["IMAGE"]',
      return_names: '["picture"]',
      output_is_list: [true],
      open: [],
    },
  ],
  defaults: [
    'class A:\n    @classmethod\n    def INPUT_TYPES(s): return {}\n    RETURN_TYPES = ("A", "B")\n    FUNCTION = "f"',
    {
      category: 'sd',
      description: '',
      deprecated: false,
      return_names: '["A","B"]',
      output_is_list: [false, false],
      input_types: '{}',
    },
  ],
  'a type that equals every other': [
    'class AnyType(str):\n    def __ne__(self, other): return False\nany_type = AnyType("*")\nclass A:\n    @classmethod\n    def INPUT_TYPES(s): return {"required": {"x": (any_type, {"default": 1.0})}}\n    RETURN_TYPES = (any_type,)\n    FUNCTION = "f"',
    { input_types: '{"required":{"x":["*",{"default":1.0}]}}', return_types: '["*"]' },
  ],
  'a dict of optional inputs that takes any': [
    'class Flexible(dict):\n    def __init__(self, kind, data=None):\n        self.kind = kind\n        self.data = data\n        for k, v in (data or {}).items(): self[k] = v\n    def __getitem__(self, key): return self.data.get(key, (self.kind,))\n    def __contains__(self, key): return True\nclass A:\n    @classmethod\n    def INPUT_TYPES(s): return {"required": {}, "optional": Flexible("X", {"a": ("INT",)})}\n    RETURN_TYPES = ()\n    FUNCTION = "f"',
    { input_types: '{"required":{},"optional":{"a":["INT"]}}' },
  ],
  'inherited from a class of the pack': [
    `${nodeClass('Base')}class A(Base):\n    CATEGORY = "other"`,
    { category: 'other', function: 'run', return_types: '["IMAGE"]' },
  ],
  'inherited from outside': [
    'from outside import Base\nclass A(Base):\n    CATEGORY = "mine"',
    {
      category: 'mine',
      open: expect.arrayContaining([expect.stringMatching(/^function: it derives from outside.Base/)]),
    },
  ],
  'in the older form, from a base that may have the newer one': [
    'import comfy_extras.nodes_lt as lt\nclass A(lt.LTXVAddGuide):\n    @classmethod\n    def INPUT_TYPES(s): return {"required": {}}\n    RETURN_TYPES = ("A",)\n    RETURN_NAMES = ("a",)\n    OUTPUT_IS_LIST = (True,)\n    FUNCTION = "f"\n    CATEGORY = "c"',
    { function: undefined, category: undefined, input_types: undefined, return_names: undefined },
  ],
  'in the newer form, from a base outside': [
    'from comfy_api.latest import io\nfrom comfy_extras.nodes_lt import LTXVAddGuide\nclass A(LTXVAddGuide):\n    @classmethod\n    def define_schema(cls): return io.Schema(node_id="A", category="c", inputs=[io.Int.Input("n")], outputs=[io.Image.Output("out")])\n    @classmethod\n    def execute(cls, n): pass',
    {
      function: 'EXECUTE_NORMALIZED',
      category: 'c',
      input_types: '{"required":{"n":["INT",{}]}}',
      return_names: '["out"]',
      open: [],
    },
  ],
  'that a metaclass prepares, and a method wraps': [
    `class Meta(type):\n    @classmethod\n    def __prepare__(mcs, name, bases, **more): return {"CATEGORY": "prepared"}\n${nodeClass('Base').replace('ours', 'base')}inputs = Base.INPUT_TYPES\nclass A(metaclass=Meta):\n    RETURN_TYPES = ()\n    @classmethod\n    def INPUT_TYPES(cls): return inputs.__get__(cls, cls)()`,
    { category: 'prepared', input_types: '{"required":{"image":["IMAGE"]}}' },
  ],
  'under a metaclass that is not followed': [
    'import helper\nclass A(metaclass=helper.Meta):\n    FUNCTION = "f"',
    { function: 'f', open: expect.arrayContaining([expect.stringContaining('category')]) },
  ],
  'sampler names': [
    'import comfy.samplers\nclass A:\n    @classmethod\n    def INPUT_TYPES(s): return {"required": {"s": (comfy.samplers.KSampler.SCHEDULERS,)}}\n    RETURN_TYPES = ()\n    FUNCTION = "f"',
    { input_types: expect.stringContaining('"karras"') },
  ],
  'an input with an unknown default': [
    'import torch\nclass A:\n    @classmethod\n    def INPUT_TYPES(s): return {"required": {"n": ("INT", {"default": torch.n()})}}\n    RETURN_TYPES = ()\n    FUNCTION = "f"',
    { open: ['input_types: .required.n[1].default it comes from outside (torch.n())'] },
  ],
  'inputs with a group that depends on a condition': [
    'import outside\nclass A:\n    @classmethod\n    def INPUT_TYPES(s):\n        more = {"a": ("A",)}\n        if outside.f(): more = outside.inputs()\n        return {"required": {}, "optional": more}\n    RETURN_TYPES = ()\n    FUNCTION = "f"',
    { input_types: '{"required":{},"optional":null}' },
  ],
  'inputs with one that depends on a condition': [
    'import outside\nclass A:\n    @classmethod\n    def INPUT_TYPES(s):\n        more = {"a": ("A",)}\n        if outside.f(): more["b"] = ("B",)\n        return {"required": more}\n    RETURN_TYPES = ()\n    FUNCTION = "f"',
    { input_types: '{"required":{"a":["A"]}}' },
  ],
  'inputs with a default, a choice and a type that are open': [
    'import outside, os\nclass A:\n    @classmethod\n    def INPUT_TYPES(s):\n        return {"required": {"k": ("STRING", {"default": os.getenv("KEY"), "multiline": True}), "c": (["a", outside.b], {"default": "a"}), "t": (outside.T,)}}\n    RETURN_TYPES = ()\n    FUNCTION = "f"',
    {
      input_types:
        '{"required":{"k":["STRING",{"default":null,"multiline":true}],"c":[["a"],{"default":"a"}],"t":[null]}}',
      open: [
        'input_types: .required.k[1].default it depends on the environment (os.environ)',
        'input_types: .required.c[0][1] it comes from outside (outside.b)',
        'input_types: .required.t[0] it comes from outside (outside.T)',
      ],
    },
  ],
  'INPUT_TYPES as a class property': [
    'class A:\n    INPUT_TYPES = classmethod(lambda cls: {"required": {"x": (cls.T,)}})\n    T = "X"\n    RETURN_TYPES = ()\n    FUNCTION = "f"',
    { input_types: '{"required":{"x":["X"]}}' },
  ],
  'a node that takes too many steps': [
    'class A:\n    @classmethod\n    def INPUT_TYPES(s):\n        while True: pass\n    RETURN_TYPES = ("A",)\n    FUNCTION = "f"',
    { function: 'f', return_types: '["A"]', open: ['input_types: it takes too many steps'] },
  ],
  'the newer schema': [
    'from comfy_api.latest import io\nclass A(io.ComfyNode):\n    @classmethod\n    def define_schema(cls):\n        return io.Schema(node_id="A", category="c", description="d", is_output_node=True, is_experimental=True, inputs=[io.Image.Input("image"), io.Int.Input("n", default=1, min=0, optional=True, tooltip="t"), io.Combo.Input("mode", options=["a", "b"]), io.Custom("OURS").Input("o"), io.MultiType.Input("m", types=[io.Int, io.Float])], outputs=[io.Image.Output(), io.Custom("OURS").Output(display_name="mine", is_output_list=True)])\n    @classmethod\n    async def execute(cls): pass',
    {
      category: 'c',
      description: 'd',
      experimental: true,
      function: 'EXECUTE_NORMALIZED_ASYNC',
      return_types: '["IMAGE","OURS"]',
      return_names: '["IMAGE","mine"]',
      output_is_list: [false, true],
      input_types:
        '{"required":{"image":["IMAGE",{}],"mode":["COMBO",{"multiselect":false,"options":["a","b"]}],"o":["OURS",{}],"m":["INT,FLOAT",{}]},"optional":{"n":["INT",{"tooltip":"t","default":1,"min":0}]},"hidden":{"prompt":["PROMPT"],"extra_pnginfo":["EXTRA_PNGINFO"]}}',
    },
  ],
};

test.each(Object.entries(fields))('reads the fields of a node: %s', (_title, [code, expected]) => {
  const node: Record<string, unknown> = { ...nodeOf(`${code}\nNODE_CLASS_MAPPINGS = {"A": A}`) };

  expect(Object.fromEntries(Object.keys(expected).map((name) => [name, node[name]]))).toEqual(expected);
});
