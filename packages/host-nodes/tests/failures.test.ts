import { describe, expect, test } from '@jest/globals';
import { extractHostNodes } from '../extract-host-nodes.ts';
import { extract, namesOf, nodeClass, type PackFiles } from './packs.ts';

/** Nine lines. */
const one = nodeClass('One');
const listed = `${one}NODE_CLASS_MAPPINGS = {"One": One}\n`;

const reasons: Record<string, [files: PackFiles | string, reason: string]> = {
  'no __init__.py': [{ 'nodes.py': '' }, 'It has no __init__.py at its root.'],
  'a pack in a folder of its own': [
    { 'tests/__init__.py': '', 'my_pack/__init__.py': listed, 'README.md': '' },
    'It has no __init__.py at its root. Publish the folder my_pack, which has one.',
  ],
  'nothing listed': ['x = 1', 'Its __init__.py has neither NODE_CLASS_MAPPINGS nor comfy_entrypoint.'],
  'a class that cannot say its name, among others that can': [
    `from comfy_api.latest import io\nclass A(io.ComfyNode):\n    @classmethod\n    def define_schema(cls): return io.Schema(node_id="A")\nclass B: pass\nclass E:\n    async def get_node_list(self): return [A, B]\nasync def comfy_entrypoint(): return E()`,
    "It may list more nodes: 1 of its classes cannot be read: AttributeError: object has no attribute 'define_schema'.",
  ],
  'a list that only failing code under an unknown condition makes': [
    {
      '__init__.py':
        'import helper\nNODE_CLASS_MAPPINGS = {}\nif helper.ready():\n    from .nodes import make\n    make(NODE_CLASS_MAPPINGS)',
      'nodes.py': `${one}def make(into):\n    into["One"] = One\n    {}["gone"]`,
    },
    'It lists no nodes. Under a condition that is not known, its code fails: KeyError: gone (nodes.py:11).',
  ],
  'nodes that such code lists and loses': [
    `import helper\n${listed}if helper.ready():\n    NODE_CLASS_MAPPINGS["Two"] = One\n    {}["gone"]`,
    'It may list more nodes: 1 of its names are lost. Under a condition that is not known, its code fails: KeyError: gone (__init__.py:13).',
  ],
  'registration through an outside package': [
    'from helper import build\nNODE_CLASS_MAPPINGS = build(__file__)',
    'Its NODE_CLASS_MAPPINGS come from helper.build() (__init__.py:2).',
  ],
  'registration through something of no name': [
    'from helper import *\nNODE_CLASS_MAPPINGS = build(__file__)',
    'Its NODE_CLASS_MAPPINGS cannot be followed: it comes from outside (__init__.py:2).',
  ],
  'a list that goes on outside': [
    `import helper\n${listed}NODE_CLASS_MAPPINGS.update(helper.more())`,
    'It may list more nodes: it comes from helper.more() (__init__.py:11).',
  ],
  'a list that goes on outside in another file': [
    {
      '__init__.py': '\nfrom .nodes import *',
      'nodes.py': `import helper\n${listed}helper.more(NODE_CLASS_MAPPINGS)\nNODE_CLASS_MAPPINGS[helper.name] = One`,
    },
    'It may list more nodes: it is passed to helper.more (nodes.py:11).',
  ],
  'the members of a module outside': [
    'import inspect, sys\n\nNODE_CLASS_MAPPINGS = dict(inspect.getmembers(sys.modules["helper"]))',
    'It may list more nodes: it comes from outside (__init__.py:3).',
  ],
  'a submodule that is missing': [
    'from .gone import NODE_CLASS_MAPPINGS',
    "It cannot be imported. ModuleNotFoundError: No module named 'gone' (__init__.py:1).",
  ],
  'a missing module of a file that it goes on without': [
    {
      '__init__.py': `${listed}for name in ["b", "a"]:\n    try: __import__(name, globals(), level=1)\n    except Exception: pass`,
      'a.py': 'from .gone import X',
      'b.py': 'try:\n    from .gone import X\nexcept ImportError: X = 1',
    },
    "A file of it cannot be imported. ModuleNotFoundError: No module named 'gone' (a.py:1).",
  ],
  'code that is not Python': [
    'print "x"',
    'It cannot be imported. SyntaxError: __init__.py cannot be read: invalid syntax at line 1, column 6.',
  ],
  'a loop without an end': [
    { '__init__.py': 'from .nodes import *', 'nodes.py': '\nwhile True: pass' },
    'It was given up: it takes too many steps (nodes.py:2).',
  ],
  'an entry point whose list is open': [
    'import x\nasync def comfy_entrypoint():\n    return x.Extension()',
    'Its comfy_entrypoint cannot be followed: it comes from outside.',
  ],
  'nodes that are no dict': [
    'NODE_CLASS_MAPPINGS = [1]',
    'Its NODE_CLASS_MAPPINGS cannot be followed: it is not a dict (__init__.py:1).',
  ],
};

describe('the reason of a failed extraction', () => {
  test.each(Object.entries(reasons))('names file and line: %s', (_title, [files, reason]) => {
    expect(extract(files)).toMatchObject({ status: 'failed', reason });
  });

  test('names a file that is too large to be read', () => {
    const files = new Map([
      ['__init__.py', 'from .big import NODE_CLASS_MAPPINGS'],
      ['big.py', undefined],
    ]);

    expect(extractHostNodes(files).reason).toBe(
      'It cannot be imported. ImportError: big.py cannot be read: it is over 1 MB, or the pack over 20 MB (__init__.py:1).',
    );
  });
});

const definite: [statement: string, error: string][] = [
  ['raise RuntimeError("no")', 'RuntimeError: no'],
  ['assert(False)', 'AssertionError: assertion failed'],
  ['assert False, "See the README.md (below)."', 'AssertionError: assertion failed'],
  ['sys.exit(1)', 'SystemExit: it ends the host'],
  ['exit()', 'SystemExit: it ends the host'],
  ['import json; json.loads("{")', 'JSONDecodeError: it is not JSON'],
  ['rate = 1 / 0', 'ZeroDivisionError: division by zero'],
  ['Other', "NameError: name 'Other' is not defined"],
];

describe('a statement that fails for the host too', () => {
  test.each(definite)('ends what imports a module with %s', (statement, error) => {
    const files = { '__init__.py': `${listed}from . import broken`, 'broken.py': `\n${statement}` };

    expect(extract(files)).toMatchObject({
      status: 'failed',
      nodes: [],
      notes: [],
      reason: `It cannot be imported. ${error} (broken.py:2).`,
    });
  });

  test.each(definite.slice(0, 3))('survives %s in a module that the pack can do without', (statement) => {
    const optional = 'try:\n    from . import broken\nexcept Exception:\n    pass';

    expect(namesOf({ '__init__.py': `${listed}${optional}`, 'broken.py': statement })).toEqual(['One']);
  });
});

describe('a statement that may fail only here', () => {
  test.each([
    ['"a" + 1', 'TypeError: unsupported operand types'],
    ['["a"][5]', 'IndexError: index out of range'],
    ['assert len([]) > 0', 'AssertionError: assertion failed'],
    ['half = len("ab") / int("0")', 'ZeroDivisionError: division by zero'],
    ['print(undefined)', "NameError: name 'undefined' is not defined"],
    ['loader = __loader__', "NameError: name '__loader__' is not defined"],
    ['if __name__:\n    raise ValueError("no")', 'ValueError: no'],
  ])('skips %s, and notes its file and line', (statement, error) => {
    expect(extract(`${listed}${statement}`)).toMatchObject({
      status: 'success',
      nodes: [{ name: 'One' }],
      notes: [`__init__.py:10 is skipped: ${error}`],
    });
  });

  test('leaves the list of nodes open if it may have added to it', () => {
    expect(extract(`${listed}for name in 1: NODE_CLASS_MAPPINGS[name] = One`)).toMatchObject({
      status: 'failed',
      reason: 'It may list more nodes: a statement that failed (__init__.py:10).',
      nodes: [{ name: 'One' }],
      notes: [expect.stringMatching(/^__init__\.py:10 is skipped: TypeError/)],
    });
  });

  test('skips only the statements that need a missing name', () => {
    const files = {
      '__init__.py': `${listed}from .tools import *\nother = helper`,
      'tools.py': 'for helper in 1: pass',
    };

    expect(extract(files)).toMatchObject({
      status: 'success',
      notes: [
        expect.stringMatching(/^tools\.py:1 is skipped: TypeError/),
        "__init__.py:11 is skipped: NameError: name 'helper' is not defined",
      ],
    });
  });
});
