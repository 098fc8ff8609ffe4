import { GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { createPersonalAccessToken, hashPersonalAccessToken } from '../../lib/auth/personal-access-tokens.ts';
import { fromAttributes, type Item, toAttributes } from '../../lib/store/attribute-values.ts';
import { update } from '../../lib/store/expressions.ts';
import { nodeKey, nodeVersionKey, publisherKey } from '../../lib/store/keys.ts';
import { createPublisher, putMember } from '../../tools/admin/registry/publishers.ts';
import { dynamodb, tableName } from '../../lib/store/table.ts';
import { putPersonalAccessToken } from '../../tools/admin/registry/tokens.ts';

/** State for tests that start elsewhere than at the seed, written past the endpoints and read back past them. */

export async function addPublisher(id: string, members: Record<string, 'owner' | 'member'>): Promise<void> {
  await createPublisher({ id, name: id });
  for (const [user, role] of Object.entries(members)) await putMember(id, user, { role });
}

export async function addToken(publisherId: string, days = 1): Promise<string> {
  const token = createPersonalAccessToken();
  const expiresAt = new Date(Date.now() + days * 86_400_000).toISOString();
  await putPersonalAccessToken({
    publisherId,
    hash: hashPersonalAccessToken(token),
    label: 'test',
    expiresAt,
  });
  return token;
}

export async function addNode(publisherId: string, id: string, fields: Item = {}): Promise<void> {
  const created_at = new Date().toISOString();
  const node = {
    id,
    publisher_id: publisherId,
    status: 'NodeStatusActive',
    created_at,
    revision: 1,
    ...fields,
  };
  await putItem({ ...nodeKey(id), ...node });
}

export async function addVersion(
  publisherId: string,
  nodeId: string,
  version: string,
  fields: Item = {},
): Promise<void> {
  const record = {
    id: `${nodeId}-${version}`,
    node_id: nodeId,
    publisher_id: publisherId,
    version,
    revision: 1,
  };
  await putItem({
    ...nodeVersionKey(nodeId, version),
    ...record,
    status: 'NodeVersionStatusActive',
    ...fields,
  });
}

export async function setPublisherFields(id: string, fields: Item): Promise<void> {
  const expression = update(fields, ['pk', 'exists']);
  const key = toAttributes(publisherKey(id));
  await dynamodb.send(new UpdateItemCommand({ TableName: tableName, Key: key, ...expression }));
}

async function putItem(item: Item): Promise<void> {
  await dynamodb.send(new PutItemCommand({ TableName: tableName, Item: toAttributes(item) }));
}

export async function storedItem(pk: string, sk: string): Promise<Item | undefined> {
  const reply = await dynamodb.send(
    new GetItemCommand({ TableName: tableName, Key: toAttributes({ pk, sk }), ConsistentRead: true }),
  );
  return reply.Item && fromAttributes(reply.Item);
}

export async function storedNode(id: string): Promise<Item | undefined> {
  const { pk, sk } = nodeKey(id);
  return storedItem(pk, sk);
}

/** The commands that some work sent to DynamoDB, in the order in which they left. */
export async function countRequests<T>(work: () => Promise<T>): Promise<{ result: T; requests: string[] }> {
  const requests: string[] = [];
  const name = 'countRequests';
  dynamodb.middlewareStack.add(
    (next, context) => (args) => {
      requests.push(String(context.commandName));
      return next(args);
    },
    { step: 'finalizeRequest', name },
  );
  try {
    return { result: await work(), requests };
  } finally {
    dynamodb.middlewareStack.remove(name);
  }
}
