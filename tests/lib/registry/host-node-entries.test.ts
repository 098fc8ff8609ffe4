import { describe, expect, test } from '@jest/globals';
import { fc } from '@node-registry/testing/properties';
import type { ReadHostNode } from '@node-registry/host-nodes';
import { entriesOf } from '@node-registry/registry-rules/host-node-entries';
import { HostNodeInput } from '@node-registry/registry-rules/schemas/host-node';
import { hasNoHiddenCharacters } from '@node-registry/registry-rules/hidden-characters';
import { HostNodeName } from '@node-registry/registry-rules/names';

const node: ReadHostNode = {
  name: 'Load',
  function: 'run',
  category: 'images',
  returnTypes: '["IMAGE"]',
  returnNames: '["image"]',
  outputIsList: [false],
  inputTypes: '{"required":{}}',
  displayName: 'Load an image',
  description: 'Loads.',
  deprecated: false,
  experimental: true,
  conditional: true,
  open: ['input_types: .required.a it depends on a condition'],
};
const { name: _, returnTypes, returnNames, outputIsList, inputTypes, displayName, open, ...same } = node;
const entry = {
  ...{ ...same, return_types: returnTypes, return_names: returnNames, output_is_list: outputIsList },
  ...{ input_types: inputTypes, display_name: displayName, left_open: open },
};

const entryOf = (changes: Partial<ReadHostNode>) => entriesOf([{ ...node, ...changes }]).entries.get('Load');

describe('the entry of a host node', () => {
  test('contains the fields that were read', () => {
    expect(entriesOf([node])).toEqual({ entries: new Map([['Load', entry]]), problem: undefined });
  });

  test('contains nothing if nothing is known', () => {
    const nothing = Object.fromEntries(Object.keys(entry).map((field) => [field, null]));

    expect(entriesOf([{ name: 'Load' }]).entries.get('Load')).toEqual(nothing);
  });

  const nineFlags = Array<boolean>(9).fill(true);

  test.each<[string, Partial<ReadHostNode>, string]>([
    ['a text that is not valid Unicode', { description: 'bad \udcff' }, 'description'],
    ['a text of over 80,000 bytes', { inputTypes: 'x'.repeat(80_001) }, 'input_types'],
    ['more than 1,000 flags', { outputIsList: Array(1001).fill(true) }, 'output_is_list'],
    ['flags that do not fit', { category: 'x'.repeat(79_990), outputIsList: nineFlags }, 'output_is_list'],
  ])('leaves out %s', (_, changes, field) => {
    expect(entryOf(changes)).toMatchObject({ [field]: null, deprecated: false });
  });

  test('contains at most 80,000 bytes of texts, the short and telling ones first', () => {
    const third = 'ä'.repeat(14_000);
    const texts = { function: third, category: third, returnTypes: third, description: third };

    const kept = { function: third, category: third, return_types: null, description: null };
    expect(entryOf(texts)).toMatchObject(kept);
    expect(entryOf({ function: 'x'.repeat(80_000) })).toMatchObject({ category: null });
    expect(entryOf({ function: 'x'.repeat(80_000) })?.function).toHaveLength(80_000);
  });
});

describe('the entries of a version', () => {
  test('contain at most two megabytes of texts, and all names', () => {
    const nodes = Array.from({ length: 60 }, (_, index) => ({
      name: `Node ${index}`,
      function: 'run',
      description: 'x'.repeat(40_000),
    }));
    const { entries, problem } = entriesOf(nodes);
    const written = [...entries.values()];

    expect(problem).toBeUndefined();
    expect(written.map((each) => each.function)).toEqual(nodes.map(() => 'run'));
    expect(written.filter(({ description }) => description !== null)).toHaveLength(49);
  });

  test.each([
    ['', 'A host node has an empty name.'],
    ['bad\ud800', 'The name "bad\ufffd" is not valid Unicode.'],
    ['😀'.repeat(201), `The name "${'😀'.repeat(40)}…" has more than 200 characters.`],
  ])('miss the name %j, and say why', (name, problem) => {
    expect(entriesOf([{ name }, node, { name: '' }])).toEqual({
      entries: new Map([['Load', entry]]),
      problem,
    });
  });

  test('accept a name of 200 characters, however many bytes they take', () => {
    expect(entriesOf([{ name: '😀'.repeat(200) }])).toMatchObject({ problem: undefined });
  });

  test('match what endpoint 7 would take, whatever was read', () => {
    const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
    const text = fc.option(fc.string({ unit, maxLength: 210 }), { nil: undefined });
    const read = fc.record({
      name: fc.string({ unit, maxLength: 210 }),
      ...{ function: text, category: text, returnTypes: text, returnNames: text, inputTypes: text },
      description: text,
      outputIsList: fc.option(fc.array(fc.boolean(), { maxLength: 1100 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(read as fc.Arbitrary<ReadHostNode>, { maxLength: 5 }), (nodes) => {
        for (const [name, fields] of entriesOf(nodes).entries) {
          expect(JSON.stringify([name, fields]).isWellFormed()).toBe(true);
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
