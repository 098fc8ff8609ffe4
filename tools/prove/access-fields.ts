import { hostNodeKey, nodeKey, nodeVersionKey } from '../../lib/store/keys.ts';
import { personalTokens } from './access-world.ts';
import type { HuntOptions, Tally } from './hunt.ts';
import { differences, readTable, type TableImage } from './table-image.ts';
import { randomValue } from './values.ts';

/** An operation that writes one item, and the fields of that item which its caller, an owner, must not decide. */
interface Guarded {
  operation: string;
  item: { pk: string; sk: string };
  path: Record<string, string>;
  body: (fields: Record<string, unknown>) => object;
  fields: readonly string[];
}

const nodeId = 'mine-live';
const path = { publisherId: 'mine', nodeId };
const nodeFields = [
  ...['id', 'created_at', 'downloads', 'repo_stars', 'rating', 'latest_version', 'publisher', 'status'],
  ...[
    'status_detail',
    'search_ranking',
    'preempted_host_node_names',
    'tags_admin',
    'publisher_id',
    'pk',
    'sk',
  ],
];
const versionFields = [
  ...[
    'id',
    'node_id',
    'createdAt',
    'downloadUrl',
    'sha256',
    'size_bytes',
    'status',
    'status_reason',
    'tags_admin',
  ],
  ...['host_node_extract_status', 'publisher_id', 'pk', 'sk', 'pending_shard'],
];
const publication = {
  node: {},
  node_version: { version: '2.0.0' },
  personal_access_token: personalTokens.good,
};

const guarded: readonly Guarded[] = [
  { operation: 'update-node', item: nodeKey(nodeId), path, body: (fields) => fields, fields: nodeFields },
  {
    operation: 'publish-node-version',
    item: nodeKey(nodeId),
    path,
    body: (fields) => ({ ...publication, node: fields }),
    fields: nodeFields,
  },
  {
    operation: 'publish-node-version',
    item: nodeVersionKey(nodeId, '2.0.0'),
    path,
    body: (fields) => ({ ...publication, node_version: { ...fields, version: '2.0.0' } }),
    fields: versionFields,
  },
  {
    operation: 'update-host-node',
    item: hostNodeKey(nodeId, '1.0.0', 'barred'),
    path: { nodeId, version: '1.0.0', hostNodeName: 'barred' },
    body: (fields) => fields,
    fields: ['host_node_name', 'policy', 'pk', 'sk'],
  },
];

const valuesEach = { short: 4, usual: 200, long: 600 };

/** Whatever an owner writes into a field that is not theirs to write, the stored one stays as it was. */
export async function huntProtectedFields(
  { arena, random, length }: HuntOptions,
  tally: Tally,
): Promise<void> {
  const authorization = arena.bearer('owner');
  for (const { operation, item, path, body, fields } of guarded) {
    // What an earlier publish has set anew is set by this one.
    await arena.call(operation, { path, headers: { authorization }, body: body({}) });
    const before = await readTable();
    for (const field of fields) {
      for (let round = 0; round < valuesEach[length]; round += 1) {
        const value = randomValue(random, field);
        const answer = await arena.call(operation, {
          path,
          headers: { authorization },
          body: body({ [field]: value }),
        });
        tally.count(answer.status < 300 ? 'field writes ignored' : 'field writes refused');
        if (answer.status >= 500) tally.violate(`${operation} ${field}`, value, answer.text);
      }
    }
    const after = await readTable();
    const name = `${item.pk} ${item.sk}`;
    for (const field of fields) {
      const [was, is] = [before, after].map((image) => JSON.stringify(image.get(name)?.[field]));
      if (was !== is) tally.violate(`${operation} changed ${field}`, was, is);
    }
    requireNothingElse(tally, operation, before, after, name);
  }
}

/** The item that is written and, by a publish, its node, its version and its token; nothing else. */
function requireNothingElse(
  tally: Tally,
  operation: string,
  before: TableImage,
  after: TableImage,
  name: string,
): void {
  const written = differences(before, after).filter((key) => key !== name);
  const allowed = operation === 'publish-node-version' ? /TOKEN#| NODE$|VERSION#2\.0\.0$/ : /^$/;
  const others = written.filter((key) => !allowed.test(key));
  if (others.length > 0) tally.violate(`${operation} also changed`, others);
}
