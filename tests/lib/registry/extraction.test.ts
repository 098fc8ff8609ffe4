import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Context } from '../../../lib/context.ts';
import { type ExtractedArchive, finishExtraction, writeHostNodes } from '../../../lib/registry/extraction.ts';
import type { ExtractedFields } from '@node-registry/registry-rules/host-node-entries';
import { changeHostNode } from '../../../lib/registry/host-nodes.ts';
import { hostNodeKey, nodeVersionKey } from '../../../lib/store/keys.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { owe } from '../../../lib/work/lanes.ts';
import { stopDate } from '@node-registry/testing/clock';
import { beforeNext, intercept } from '../../support/intercept.ts';
import { fc } from '@node-registry/testing/properties';
import { runsOf } from '@node-registry/testing/property-runs';
import {
  addNode,
  addPublisher,
  addVersion,
  setFields,
  shownHostNodes,
  soon,
  storedItem,
  storedNode,
} from '../../support/registry.ts';

const caller = { userId: 'admin', isAdmin: true };
const sha256 = 'a'.repeat(64);

beforeAll(() => addPublisher('acme', {}));

/** An active version whose extraction is due. */
async function addExtractable(nodeId: string, fields: object = {}): Promise<ExtractedArchive> {
  await addNode('acme', nodeId);
  await addVersion('acme', nodeId, '1.0.0', {
    sha256,
    host_node_extract_status: 'pending',
    ...owe('extract', nodeVersionKey(nodeId, '1.0.0'), 'acme'),
    ...fields,
  });
  return { node_id: nodeId, version: '1.0.0', id: `${nodeId}-1.0.0`, sha256 };
}

function read(text: string | null): ExtractedFields {
  const flags = { deprecated: null, experimental: null, conditional: null, left_open: null };
  const types = { input_types: null, output_is_list: null, return_names: null, return_types: null };
  return { category: text, description: text, function: text, display_name: null, ...flags, ...types };
}

const found = (by: number, names: readonly string[]) => ({
  by,
  status: 'success' as const,
  nodes: new Map(names.map((name) => [name, read(`read by ${by}`)])),
  openFields: 0,
  tags: [] as string[],
});

const stored = (nodeId: string) => storedItem(nodeVersionKey(nodeId, '1.0.0'));

const edit = (nodeId: string, hostNodeName: string, changes: object) =>
  changeHostNode(soon(), { nodeId, version: '1.0.0', hostNodeName, changes, caller });

/** What an extraction does. Entries that it does not find are not shown, but for what people wrote. */
async function extract(archive: ExtractedArchive, by: number, names: readonly string[]): Promise<void> {
  await writeHostNodes(soon(), archive, found(by, names));
  await finishExtraction(soon(), archive, found(by, names));
}

describe('the admin tags of a version', () => {
  const finish = (archive: ExtractedArchive, by: number, tags: string[]) =>
    finishExtraction(soon(), archive, { ...found(by, []), tags });

  test('keep an administrator’s own, and lose what the extraction before had added', async () => {
    const archive = await addExtractable('tagged', { tags_admin: ['reviewed', 'calls-exec'] });
    await finish(archive, 1, ['calls-eval', 'calls-exec']);
    expect(await stored('tagged')).toMatchObject({ tags_admin: ['reviewed', 'calls-exec', 'calls-eval'] });
    await finish(archive, 2, []);

    expect(await stored('tagged')).toMatchObject({ tags_admin: ['reviewed', 'calls-exec'] });
  });
});

describe('the end of an extraction', () => {
  test('clears the reason of a failed one before, also in the node’s copy', async () => {
    const archive = await addExtractable('repaired', { host_node_extract_reason: 'before' });
    const latest_version = { id: archive.id, version: '1.0.0', host_node_extract_reason: 'before' };
    await setFields({ pk: 'NODE#repaired', sk: 'NODE' }, { latest_version });
    await finishExtraction(soon(), archive, found(1, []));

    expect(await stored('repaired')).not.toHaveProperty('host_node_extract_reason');
    expect((await storedNode('repaired'))?.latest_version).toEqual({
      id: archive.id,
      version: '1.0.0',
      host_node_extract_status: 'success',
    });
  });

  test.each([
    ['of other bytes', { sha256: 'b'.repeat(64) }],
    ['of another version under the label', { id: 'other' }],
  ])('changes nothing %s', async (label, other) => {
    const nodeId = label.replaceAll(' ', '-');
    const archive = await addExtractable(nodeId);

    expect(await finishExtraction(soon(), { ...archive, ...other }, found(1, []))).toBe(false);
    expect(await stored(nodeId)).toMatchObject({ host_node_extract_status: 'pending' });
  });
});

test('keeps an edit of an entry that an extraction would write meanwhile', async () => {
  const archive = await addExtractable('edited-meanwhile');
  await writeHostNodes(soon(), archive, found(1, ['entry']));
  const edited = beforeNext(dynamodb, /^UpdateItemCommand$/, () =>
    edit('edited-meanwhile', 'entry', { category: 'theirs' }),
  );
  await writeHostNodes(soon(), archive, found(2, ['entry']));

  expect(edited.happened()).toBe(true);
  expect(await shownHostNodes('edited-meanwhile', '1.0.0')).toMatchObject([{ category: 'theirs' }]);
});

function withoutOpen(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

const names = ['one', 'two'] as const;
const fields = ['category', 'description', 'policy'] as const;
const values = {
  category: ['theirs', null],
  description: ['theirs', null],
  policy: ['HostNodePolicyLocalOnly'],
};
const finds: Record<number, readonly string[]> = { 1: ['one', 'two'], 2: ['one'], 3: ['two'] };

const aStep = fc.oneof(
  fc.constantFrom(1, 2, 3).map((by) => ({ kind: 'extract' as const, by })),
  fc
    .tuple(fc.constantFrom(...names), fc.constantFrom(...fields))
    .chain(([name, field]) =>
      fc
        .constantFrom<string | null>(...values[field])
        .map((value) => ({ kind: 'edit' as const, name, field, value })),
    ),
  fc.constantFrom(...names).map((name) => ({ kind: 'edit' as const, name, field: undefined, value: null })),
);
type Step = typeof aStep extends fc.Arbitrary<infer Value> ? Value : never;

async function take(archive: ExtractedArchive, step: Step): Promise<void> {
  if (step.kind === 'extract') return extract(archive, step.by, finds[step.by] ?? []);
  await edit(archive.node_id, step.name, step.field === undefined ? {} : { [step.field]: step.value });
}

/** The entries that must be there: what people wrote, over what the newest extractor found. */
function expectedEntries(steps: readonly Step[]): object[] {
  const newest = Math.max(0, ...steps.map((step) => (step.kind === 'extract' ? step.by : 0)));
  return names.flatMap((name) => {
    const edits = steps.flatMap((step) => (step.kind === 'edit' && step.name === name ? [step] : []));
    const isFound = finds[newest]?.includes(name) ?? false;
    if (!isFound && edits.length === 0) return [];
    const written = edits.flatMap(({ field, value }) => (field === undefined ? [] : [[field, value]]));
    const extracted = isFound ? read(`read by ${newest}`) : {};
    return [withoutOpen({ ...extracted, ...Object.fromEntries(written), host_node_name: name })];
  });
}

const lateOlder = ([2, 1] as const).map((by) => ({ kind: 'extract' as const, by }));

let runs = 0;

async function fresh(): Promise<ExtractedArchive> {
  runs += 1;
  return addExtractable(`state-${runs}`);
}

test("extractions by any extractors and edits end with people's edits over the newest extractor's results, in any order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 1, maxLength: 8 }), async (steps) => {
      const archive = await fresh();
      for (const step of steps) await take(archive, step);

      expect(await shownHostNodes(archive.node_id, '1.0.0')).toEqual(expectedEntries(steps));
    }),
    { numRuns: runsOf(1.5), examples: [[lateOlder]] },
  );
});

describe('the entries of a version', () => {
  /** How many entries are written meanwhile. The time of the work may be up after some of them. */
  async function writesOf(
    work: (context: Context) => Promise<unknown>,
    max = Number.POSITIVE_INFINITY,
  ): Promise<number> {
    let count = 0;
    const remove = intercept(dynamodb, async ({ command, send }) => {
      if (command === 'UpdateItemCommand') count += 1;
      return send();
    });
    await work({
      get deadline() {
        return count < max ? Number.POSITIVE_INFINITY : 0;
      },
    });
    remove();
    return count;
  }

  test('rewrites only entries that differ, though a person changed some', async () => {
    const archive = await addExtractable('same-again');
    const write = () => writeHostNodes(soon(), archive, found(1, ['kept', 'edited', 'local', 'new']));
    await edit('same-again', 'kept', {});
    await edit('same-again', 'edited', { category: 'theirs', description: null });
    await edit('same-again', 'local', { policy: 'HostNodePolicyLocalOnly' });
    expect(await writesOf(write)).toBe(4);
    expect(await writesOf(write)).toBe(0);
    const key = hostNodeKey('same-again', '1.0.0', 'new');
    await setFields(key, { category: 'damaged' });

    expect(await writesOf(write)).toBe(1);
    expect(await storedItem(key)).toMatchObject({ category: 'read by 1' });
  });

  test('leaves entries without time to the next run, which writes only these', async () => {
    const archive = await addExtractable('no-time');
    const nodes = new Map(nodesOf(200, 'a'));
    const write = (context: Context) => writeHostNodes(context, archive, { by: 1, nodes });
    expect(await write({ deadline: 0 })).toBe(false);
    expect(await shownHostNodes('no-time', '1.0.0')).toEqual([]);
    const first = await writesOf(async (context) => expect(await write(context)).toBe(false), 100);
    const second = await writesOf(async () => expect(await write(soon())).toBe(true));

    expect(first).toBeGreaterThanOrEqual(100);
    expect(second).toBe(200 - first);
  });

  const nodesOf = (count: number, text: string | null) =>
    Array.from({ length: count }, (_, index) => [`${text?.length ?? 0}-${index}`, read(text)] as const);

  /** Entries of so many write units each. */
  const ofUnits = (units: readonly number[]) => {
    const sized = (each: number) => ({ ...read(null), category: 'x'.repeat((each - 1) * 1024) });
    return new Map(units.map((each, index) => [`entry ${index}`, sized(each)]));
  };

  test.each([
    [[125, 125], 2_000],
    [[125, 125, 1], 2_400],
    [[125, 115, 10], 2_000],
    [[125, 116, 10], 6_000],
  ])('takes 250 units at once and then 50 a second, with two seconds to end: %j', async (units, leastMs) => {
    stopDate();
    const write = async (ms: number) => {
      const archive = await addExtractable(`paced-${units.join('-')}-${ms}`);
      return writeHostNodes({ deadline: Date.now() + ms }, archive, { by: 1, nodes: ofUnits(units) });
    };

    expect([await write(leastMs - 1), await write(leastMs)]).toEqual([false, true]);
  });

  test('waits before it writes what is over the 250 units', async () => {
    const sent: number[] = [];
    let read = 0;
    intercept(dynamodb, async ({ command, send }) => {
      if (command === 'UpdateItemCommand') sent.push(performance.now());
      return send().finally(() => {
        if (command === 'BatchGetItemCommand') read = performance.now();
      });
    });
    await writeHostNodes(soon(), await addExtractable('waits'), { by: 1, nodes: ofUnits([125, 125, 1]) });

    expect(sent).toHaveLength(3);
    expect(Number(sent.at(-1)) - read).toBeGreaterThan(390);
  });
});
