import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readApiDocument } from './api-document.ts';
import type { CheckRun } from './check.ts';
import { hostNodeKey, nodeKey, nodeVersionKey, personalTokens } from './fixtures.ts';
import { oddValue } from './odd-values.ts';
import { attributesOf, differences, nameOf, readItem, readTable, type StoredItem } from './stores.ts';

/** An operation that writes one item, and the fields of that item that an owner must not set. */
interface Guarded {
  operation: string;
  item: { pk: string; sk: string };
  path: Record<string, string>;
  body: (fields: Record<string, unknown>) => object;
  fields: readonly string[];
  /** The other items that the operation writes. */
  others?: RegExp;
}

const nodeId = 'mine-live';
const path = { publisherId: 'mine', nodeId };
const nodeFields =
  'id created_at downloads repo_stars rating latest_version publisher status status_detail search_ranking preempted_host_node_names tags_admin publisher_id pk sk';
const versionFields =
  'id node_id createdAt downloadUrl sha256 size_bytes status status_reason tags_admin host_node_extract_status host_node_extract_reason publisher_id pk sk pending_shard';
const publication = {
  node: {},
  node_version: { version: '2.0.0' },
  personal_access_token: personalTokens.good,
};
const others = /TOKEN#| NODE$|VERSION#2\.0\.0$/;

const guarded: Record<string, Guarded> = {
  node: {
    operation: 'update-node',
    item: nodeKey(nodeId),
    path,
    body: (fields) => fields,
    fields: nodeFields.split(' '),
  },
  'node-of-a-publish': {
    operation: 'publish-node-version',
    item: nodeKey(nodeId),
    path,
    body: (fields) => ({ ...publication, node: fields }),
    fields: nodeFields.split(' '),
    others,
  },
  version: {
    operation: 'publish-node-version',
    item: nodeVersionKey(nodeId, '2.0.0'),
    path,
    body: (fields) => ({ ...publication, node_version: { ...fields, version: '2.0.0' } }),
    fields: versionFields.split(' '),
    others,
  },
  'host-node': {
    operation: 'update-host-node',
    item: hostNodeKey(nodeId, '1.0.0', 'barred'),
    path: { nodeId, version: '1.0.0', hostNodeName: 'barred' },
    body: (fields) => fields,
    fields: ['host_node_name', 'policy', 'pk', 'sk'],
  },
};

const valuesEach = { short: 4, usual: 200, long: 600 };

/** A protected field keeps its stored value, even if an owner sends another one. */
export async function checkProtectedFields(run: CheckRun): Promise<void> {
  const { harness, length } = run.options;
  const document = await readApiDocument(harness);
  const headers = { authorization: harness.bearer('owner') };
  for (const [name, { operation, item, path, body, fields, others = /^$/ }] of Object.entries(guarded)) {
    // This publish sets what an earlier one has set.
    await harness.call(operation, { path, headers, body: body({}) });
    const before = await readTable();
    const itemName = nameOf(attributesOf(item));
    const only = (stored: StoredItem | undefined) => fields.map((field) => [field, stored?.[field]]);
    await run.property({
      name: `access/${name}`,
      runs: fields.length * valuesEach[length],
      values: fc.oneof(
        ...fields.map((field) =>
          // Values that the field would accept, and others.
          fc.record({ field: fc.constant(field), value: fc.oneof(oddValue, ...document.valuesOf(field)) }),
        ),
      ),
      holds: async ({ field, value }) => {
        const answer = await harness.call(operation, { path, headers, body: body({ [field]: value }) });
        run.report.count(answer.status < 300 ? 'field writes ignored' : 'field writes rejected');
        assert.ok(answer.status < 500, answer.text);
        const stored = only(await readItem(item));
        assert.deepEqual(stored, only(before.get(itemName)), `${operation} changed a field`);
      },
    });
    const written = differences(before, await readTable());
    const unexpected = written.filter((key) => key !== itemName && !others.test(key));
    if (unexpected.length > 0) run.report.violate(`${operation} also changed`, unexpected);
  }
}
