import { describe, expect, test } from '@jest/globals';
import { fc } from '@node-registry/testing/properties';
import { type ExtractedNode, extractHostNodes } from '@node-registry/host-nodes';
import { entriesOf } from '@node-registry/registry-rules/host-node-entries';
import { HostNodeInput } from '@node-registry/registry-rules/schemas/host-node';
import { hasNoHiddenCharacters } from '@node-registry/registry-rules/hidden-characters';
import { HostNodeName } from '@node-registry/registry-rules/names';

const node: ExtractedNode = {
  name: 'Load',
  function: 'run',
  category: 'images',
  return_types: '["IMAGE"]',
  return_names: '["image"]',
  output_is_list: [false],
  input_types: '{"required":{}}',
  display_name: 'Load an image',
  description: 'Loads.',
  deprecated: false,
  experimental: true,
  conditional: true,
  open: ['input_types: .required.a it depends on a condition'],
};
const { name: _, open, ...same } = node;
const entry = { ...same, left_open: open };

const named = (name: string): ExtractedNode => ({ name, conditional: false, open: [] });

describe('the entry of a host node', () => {
  test('contains the fields that were read', () => {
    expect(entriesOf([node])).toEqual({ entries: new Map([['Load', entry]]), problem: undefined });
  });

  test('contains nothing if nothing is known', () => {
    const nothing = Object.fromEntries(Object.keys(entry).map((field) => [field, null]));

    expect(entriesOf([named('Load')]).entries.get('Load')).toEqual(nothing);
  });
});

describe('the entries of a version', () => {
  test.each([
    ['', 'A host node has an empty name.'],
    ['bad\ud800', 'The name "bad\ufffd" is not valid Unicode.'],
    ['😀'.repeat(201), `The name "${'😀'.repeat(40)}…" has more than 200 characters.`],
  ])('miss the name %j, and say why', (name, problem) => {
    expect(entriesOf([named(name), node, named('')])).toEqual({
      entries: new Map([['Load', entry]]),
      problem,
    });
  });

  test('accept a name of 200 characters, however many bytes they take', () => {
    expect(entriesOf([named('😀'.repeat(200))])).toMatchObject({ problem: undefined });
  });

  test('match what endpoint 7 would take, whatever a pack says', () => {
    const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
    const text = fc.string({ unit, maxLength: 210 });
    const list = fc.array(text, { maxLength: 3 });
    const said = fc.record({
      FUNCTION: text,
      CATEGORY: text,
      DESCRIPTION: text,
      RETURN_TYPES: list,
      RETURN_NAMES: list,
      OUTPUT_IS_LIST: fc.array(fc.boolean(), { maxLength: 1100 }),
    });
    const init = `import json, os
with open(os.path.join(os.path.dirname(__file__), "nodes.json")) as f: nodes = json.load(f)
NODE_CLASS_MAPPINGS = {name: type("Node", (), {**said, "INPUT_TYPES": lambda: said}) for name, said in nodes}
`;
    fc.assert(
      fc.property(fc.array(fc.tuple(text, said), { maxLength: 3 }), (nodes) => {
        const files = new Map([
          ['__init__.py', init],
          ['nodes.json', JSON.stringify(nodes)],
        ]);
        const read = extractHostNodes(files).nodes;

        expect(read.map(({ name }) => name)).toEqual([...new Map(nodes).keys()]);
        for (const [name, fields] of entriesOf(read).entries) {
          expect(Object.values(fields).join(name).isWellFormed()).toBe(true);
          // What an archive has is kept, although endpoint 7 takes no hidden characters.
          if (hasNoHiddenCharacters(name))
            expect(HostNodeName.safeParse(name.replace(/[%/?#]/g, encodeURIComponent)).data).toBe(name);
          expect(HostNodeInput.safeParse(fields).error).toBeUndefined();
        }
      }),
      { numRuns: 300 },
    );
  });
});
