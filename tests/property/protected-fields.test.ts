import assert from 'node:assert/strict';
import { beforeAll, expect, test } from '@jest/globals';
import { hostNodeKey, nodeKey, nodeVersionKey } from '../../lib/store/keys.ts';
import { personalTokens, populate } from '../support/access-fixtures.ts';
import { readApiDocument } from '../support/api-document.ts';
import { call } from '../support/endpoints.ts';
import { oddValue } from '../support/odd-values.ts';
import { fc } from 'testing/properties';
import { check } from 'testing/property-runs';
import {
  attributesOf,
  differences,
  nameOf,
  readItem,
  readTable,
  type StoredItem,
} from '../support/table-image.ts';
import { bearer } from '../support/tokens.ts';

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
  'id created_at downloads repo_stars rating latest_version publisher search_ranking preempted_host_node_names tags_admin publisher_id pk sk';
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
    fields: [...nodeFields.split(' '), 'status'],
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

beforeAll(populate);

test.each(Object.entries(guarded))('lets no owner set a protected field: %s', async (_, guard) => {
  const { operation, item, path, body, fields, others = /^$/ } = guard;
  const document = await readApiDocument();
  const headers = { authorization: bearer('owner') };
  // This publish sets what an earlier one has set.
  await call(operation, { path, headers, body: body({}) });
  const before = await readTable();
  const itemName = nameOf(attributesOf(item));
  const only = (stored: StoredItem | undefined) => fields.map((field) => [field, stored?.[field]]);
  const values = fields.map((field) =>
    // Values that the field would accept, and others.
    fc.record({ field: fc.constant(field), value: fc.oneof(oddValue, ...document.valuesOf(field)) }),
  );
  await check(
    fc.oneof(...values),
    async ({ field, value }) => {
      const answer = await call(operation, { path, headers, body: body({ [field]: value }) });
      assert.ok(answer.status < 500, answer.text);
      const stored = only(await readItem(item));
      assert.deepEqual(stored, only(before.get(itemName)), `${operation} changed a field`);
    },
    { weight: 3 },
  );

  const written = differences(before, await readTable());
  expect(written.filter((key) => key !== itemName && !others.test(key))).toEqual([]);
});
