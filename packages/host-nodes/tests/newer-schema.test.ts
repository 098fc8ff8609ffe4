import { describe, expect, test } from '@jest/globals';
import { extract, namesOf, nodeClass, nodeOf } from './packs.ts';

const imports =
  'from enum import Enum\nfrom comfy_api.latest import io, ComfyExtension\nclass Mode(Enum):\n    A = "a"\n    B = "b"\n';

/** A pack of the newer schema with one node. */
function pack(schema: string, more = ''): string {
  return `${imports}${more}
class Node(io.ComfyNode):
    @classmethod
    def define_schema(cls):
        return io.Schema(node_id="Node", ${schema})
    @classmethod
    def execute(cls): pass
class Ours(ComfyExtension):
    async def get_node_list(self): return [Node]
async def comfy_entrypoint(): return Ours()
`;
}

const widgets =
  '"mi":["INT,FLOAT",{"widgetType":"INT"}],"im":["IMAGE,MASK",{}],"m":["COMBO",{"default":"b","multiselect":false,"options":["a","b"]}]';

const fields: [title: string, schema: string, fields: object][] = [
  [
    'an output by its display name, then by its id, then by its type',
    'outputs=[io.Image.Output(id="image", display_name="Shown"), io.Mask.Output("mask"), io.Latent.Output()]',
    { return_names: '["Shown","mask","LATENT"]' },
  ],
  [
    '`advanced` of an input',
    'inputs=[io.Int.Input("steps", default=1, advanced=True)]',
    { input_types: '{"required":{"steps":["INT",{"advanced":true,"default":1}]}}' },
  ],
  [
    'widgets and defaults',
    'inputs=[io.MultiType.Input(io.Int.Input("mi"), [io.Float]), io.MultiType.Input(io.Image.Input("im"), [io.Mask]), io.Combo.Input("m", Mode, default=Mode.B)]',
    { input_types: `{"required":{${widgets}}}` },
  ],
  [
    'the gradient slider',
    'inputs=[io.Int.Input("n", display_mode=io.NumberDisplay.gradient_slider)]',
    { input_types: '{"required":{"n":["INT",{"display":"gradientslider"}]}}' },
  ],
  [
    'an input of several types as optional if the input that it is given is',
    'inputs=[io.MultiType.Input(io.Image.Input("image", optional=True), [io.Mask])]',
    { input_types: '{"required":{},"optional":{"image":["IMAGE,MASK",{}]}}' },
  ],
];

describe('a node of the newer schema', () => {
  test.each(fields)('shows %s', (_, schema, expected) => {
    expect(nodeOf(pack(schema))).toMatchObject(expected);
  });

  test('finds the id of a node whose schema asks whether the host is there', () => {
    const asking = pack('inputs=[]').replace(
      'return io.Schema',
      'if io is None: return None\n        return io.Schema',
    );

    expect(namesOf(asking)).toEqual(['Node']);
  });

  test('lists a class once that the list of nodes has twice', () => {
    expect(namesOf(pack('inputs=[]').replace('[Node]', '[Node, Node]'))).toEqual(['Node']);
  });

  test('keeps a function whose decorator from outside gives it attributes', () => {
    const dressed =
      'from torch.library import custom_op\n@custom_op("a::b")\ndef f(x): pass\n@f.register_fake\ndef _(x): pass\n';

    expect(namesOf(pack('inputs=[]', dressed))).toEqual(['Node']);
  });

  test('lists a node by the id that GET_SCHEMA gives', () => {
    const listed = `${imports}
class A(io.ComfyNode):
    @classmethod
    def define_schema(cls): return io.Schema(node_id="Named A", display_name="A node")
NODE_CLASS_MAPPINGS = {c.GET_SCHEMA().node_id: c for c in [A]}
`;
    expect(namesOf(listed)).toEqual(['Named A']);
  });

  test.each([
    [
      'an option',
      'io.DynamicCombo.Option("a", [io.Int.Input("n")])',
      'assert made.key == "a" and len(made.inputs) == 1',
    ],
    [
      'an input',
      'io.Int.Input("n")',
      'assert made.default is None and not made.optional and made.tooltip is None',
    ],
    ['an output', 'io.Image.Output()', 'assert made.display_name is None and not made.is_output_list'],
    ['a template', 'io.MatchType.Template("T")', 'made.template_id.lower(); made.as_dict()'],
    ['a schema', 'io.Schema(node_id="N")', 'made.validate(); assert not made.is_output_node'],
  ])('lists its node if the pack reads from %s what it did not give', (_, made, use) => {
    const { nodes } = extract(
      pack('inputs=read()', `def read():\n    made = ${made}\n    ${use}\n    return []\n`),
    );

    expect(nodes.map(({ name }) => name)).toEqual(['Node']);
  });

  test('gives a node the title that its schema shows', () => {
    const untitled = extract(
      `${pack('inputs=[]')}NODE_CLASS_MAPPINGS = {"N": Node}\nNODE_DISPLAY_NAME_MAPPINGS = {"N": "Not shown"}\n`,
    );

    expect(nodeOf(pack('display_name="A title"')).display_name).toBe('A title');
    expect(untitled.nodes.map(({ display_name }) => display_name)).toEqual([undefined]);
  });
});

test('gives a node of the older form the title of NODE_DISPLAY_NAME_MAPPINGS', () => {
  const listed = `${nodeClass('One')}${nodeClass('Two')}NODE_CLASS_MAPPINGS = {"one": One, "two": Two}\nNODE_DISPLAY_NAME_MAPPINGS = {"one": "The first"}\n`;

  expect(extract(listed).nodes.map(({ display_name }) => display_name)).toEqual(['The first', undefined]);
});
