import { expect, test } from '@jest/globals';
import { fc } from '@node-registry/testing/properties';
import type { ExtractedNode } from '../describe-node.ts';
import { extract, nodeClass } from './packs.ts';

/*
 * The host adds members with every release. Whatever of them is unknown here leaves the field open in which a pack uses
 * it, and neither the node nor the pack fails.
 */

const modules = [
  ...['nodes', 'folder_paths', 'node_helpers', 'server', 'execution', 'latent_preview', 'comfy_extras'],
  ...['comfy', 'comfy.utils', 'comfy.samplers', 'comfy.sd', 'comfy.model_management', 'comfy.cli_args'],
  ...['comfy.comfy_types', 'comfy.comfy_types.IO', 'comfy.comfy_types.node_typing', 'comfy_execution.graph'],
  'comfy_api.latest',
  ...['comfy_api.latest.io', 'comfy_api.latest.io.Int', 'comfy_api.latest.io.NumberDisplay'],
  'comfy_api.latest._io',
  'comfy_api.input',
  'comfy_api.v0_0_2',
];

const uses: ((member: string) => string)[] = [
  (member) => member,
  (member) => `${member}.More`,
  (member) => `${member}()`,
  (member) => `${member}.More("a", 1, key=None)`,
  (member) => `${member}["a"]`,
  (member) => `${member}.Input("x", default=1)`,
  (member) => `[item for item in ${member}]`,
  (member) => `type("Made", (${member},), {})`,
];

const older = (body: string) => `class Node:
    @classmethod
    def INPUT_TYPES(cls): return {"required": {"image": ("IMAGE",)}}
    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "run"
${body}NODE_CLASS_MAPPINGS = {"Plain": Plain, "Node": Node}
`;

const newer = (schema: string) => `from comfy_api.latest import io
class Node(io.ComfyNode):
    @classmethod
    def define_schema(cls): return io.Schema(node_id="Node", ${schema})
NODE_CLASS_MAPPINGS = {"Plain": Plain, "Node": Node}
`;

type Field = keyof ExtractedNode;

/** Where a pack writes a value of the host, and the field that depends on it; none where nothing shown does. */
const positions: [code: (value: string) => string, field?: Field][] = [
  [(value) => older(`    RETURN_TYPES = ("IMAGE", ${value})\n`), 'return_types'],
  [(value) => older(`    RETURN_TYPES = ${value}\n`), 'return_types'],
  [(value) => older(`    RETURN_NAMES = (${value},)\n`), 'return_names'],
  [(value) => older(`    CATEGORY = ${value}\n`), 'category'],
  [(value) => older(`    FUNCTION = ${value}\n`), 'function'],
  [(value) => older(`    DESCRIPTION = ${value}\n`), 'description'],
  [
    (value) =>
      older(`    @classmethod\n    def INPUT_TYPES(cls): return {"required": {"x": (${value}, {})}}\n`),
    'input_types',
  ],
  [
    (value) =>
      older(
        `    @classmethod\n    def INPUT_TYPES(cls): return {"required": {"x": ("INT", {"default": ${value}})}}\n`,
      ),
    'input_types',
  ],
  [
    (value) =>
      older(
        `    @classmethod\n    def INPUT_TYPES(cls): return {"required": {**(${value})}, "hidden": {}}\n`,
      ),
    'input_types',
  ],
  [(value) => older(`    OTHER = ${value}\n    def run(self, image): return ${value}\n`)],
  [(value) => `Base = ${value}\n${older('').replace('class Node:', 'class Node(Base):')}`],
  [(value) => `decorate = ${value}\n${older('').replace('class Node:', '@decorate\nclass Node:')}`],
  [(value) => newer(`inputs=[${value}]`), 'input_types'],
  [(value) => newer(`inputs=[io.Int.Input("n", default=${value})]`), 'input_types'],
  [(value) => newer(`inputs=[io.Int.Input("n", sparkle=${value})]`), 'input_types'],
  [(value) => newer(`inputs=[io.Combo.Input("n", options=${value})]`), 'input_types'],
  [(value) => newer(`outputs=[io.Image.Output(), ${value}]`), 'return_types'],
  [(value) => newer(`outputs=[io.Image.Output(display_name=${value})]`), 'return_names'],
  [(value) => newer(`hidden=[${value}]`), 'input_types'],
  [(value) => newer(`category=${value}`), 'category'],
  [(value) => newer(`sparkle=${value}`)],
];

test('leaves fields open that depend on an unknown member of the host, and fails nothing', () => {
  const member = fc.stringMatching(/^[A-Za-z]{1,8}$/).map((name) => `Zq${name}`);
  const plain = nodeClass('Plain');
  const [expected] = extract(`${plain}NODE_CLASS_MAPPINGS = {"Plain": Plain}\n`).nodes;
  fc.assert(
    fc.property(
      ...([
        fc.constantFrom(...modules),
        member,
        fc.constantFrom(...uses),
        fc.constantFrom(...positions),
      ] as const),
      (module, name, use, [code, field]) => {
        const text = `import ${module.replace(/\.(?:IO|io)(?:\.\w+)?$/, '')}\n${plain}${code(`(${use(`${module}.${name}`)})`)}`;
        const { nodes, status, reason } = extract(text);
        const node = nodes.find((found) => found.name === 'Node');

        expect({ text, status, reason }).toEqual({ text, status: 'success', reason: undefined });
        expect(nodes.map((found) => found.name)).toEqual(['Plain', 'Node']);
        expect(nodes[0]).toEqual(expected);
        const open = field?.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) ?? '';
        expect({ text, open: node?.open.join() }).toEqual({ text, open: expect.stringContaining(open) });
      },
    ),
    { numRuns: 600 },
  );
});
