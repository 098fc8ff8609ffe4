import manifest from '../package.json' with { type: 'json' };
import { type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { fromAttributes, toAttributes, typedRead } from '../lib/store/items.ts';
import { type Key, releaseKey } from '../lib/store/keys.ts';

/*
 * One item names the release that wrote the table. A release is tested only against the previous one, so a
 * deployment over any other release is rejected before it changes anything.
 */

export interface Release {
  name: string;
  /** The release whose table this one can be deployed over: each reads the other's records. */
  before: string | undefined;
}

const { version, upgradesFrom }: { version: string; upgradesFrom?: string } = manifest;

/** `npm run release` sets the next one. 4.0.0 upgrades no other. */
export const release: Release = { name: version, before: upgradesFrom || undefined };

export interface ReleaseRecord extends Key {
  release: string;
  before?: string | undefined;
  at: string;
}

const releaseRecord = typedRead<ReleaseRecord>();

export interface Table {
  client: DynamoDBClient;
  name: string;
}

/** `empty`: no deployment has ended yet. */
export type TableState = 'absent' | 'empty' | ReleaseRecord;

export async function tableState({ client, name }: Table): Promise<TableState> {
  try {
    const key = { TableName: name, Key: toAttributes(releaseKey), ConsistentRead: true };
    const { Item } = await client.send(new GetItemCommand(key));
    return Item ? releaseRecord(fromAttributes(Item)) : 'empty';
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return 'absent';
    throw error;
  }
}

/** Why a release can't be deployed over a table; undefined if it can. `place` has the flags of `npm run admin` for the table. */
export function deploymentProblem(
  { name }: Table,
  state: TableState,
  { name: release, before }: Release,
  place = '',
): string | undefined {
  if (state === 'absent' || state === 'empty') return undefined;
  const readable = [release, before].filter(Boolean).join(' or ');
  if (state.release === release || state.before === release) return undefined;
  if (state.release === before)
    return `The table ${name} was written by release ${before}. Before ${release} is deployed, run: npm run admin -- upgrade${place}`;
  return `The table ${name} was written by release ${state.release}, and ${release} can only be deployed over a table of ${readable}.`;
}

/** For a table without a release record. An existing record stays. */
export async function nameRelease(table: Table, { name, before }: Release): Promise<void> {
  const record = { ...releaseKey, release: name, before, at: new Date().toISOString() };
  await writeRelease(table, record, 'attribute_not_exists(pk)').catch((error: Error) => {
    if (error.name !== 'ConditionalCheckFailedException') throw error;
  });
}

export async function writeRelease(
  { client, name }: Table,
  record: ReleaseRecord,
  condition?: string,
): Promise<void> {
  const put = { TableName: name, Item: toAttributes(record), ConditionExpression: condition };
  await client.send(new PutItemCommand(put));
}
