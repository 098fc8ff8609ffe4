import { isDeepStrictEqual } from 'node:util';
import { type CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  paginateScan,
  type ScanCommandOutput,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import {
  DeleteFunctionConcurrencyCommand,
  type LambdaClient,
  PutFunctionConcurrencyCommand,
} from '@aws-sdk/client-lambda';
import type { Template } from '../../infra/plugins/framework.ts';
import { referencesOf } from '../../infra/plugins/references.ts';
import type { AttributeMap } from '../../lib/store/items.ts';
import { tableState } from '../../infra/release.ts';

/*
 * Gives the table of a stage the records of a copy from point-in-time recovery. The table itself stays, with
 * its settings, alarms, backups and stream, so readers are served and the public index follows. No state is
 * kept between two runs: the copy determines the table's records, and the deployed template the running
 * functions.
 */

export interface Aws {
  dynamodb: DynamoDBClient;
  lambda: LambdaClient;
  cloudformation: CloudFormationClient;
  pause: (ms: number) => Promise<unknown>;
}

export interface Restore {
  /** Its stack has the same name. */
  table: string;
  copy: string;
  print: (line: string) => void;
}

/** No function runs longer. */
const longestRunMs = 300_000;
/** Limits of BatchGetItem and BatchWriteItem. */
const [maxRead, maxWrite] = [100, 25];
const throttledMs = 200;
/** The last one finds nothing to change. */
const maxRounds = 5;

/** Later writes are lost. Until the end, paid requests, publishes and updates get 503. */
export async function restoreTable(aws: Aws, { table, copy, print }: Restore): Promise<void> {
  const state = await tableState({ client: aws.dynamodb, name: copy });
  if (typeof state === 'string') throw new Error(`The table ${copy} isn't a copy of a stage: ${state}.`);
  const { Table } = await aws.dynamodb.send(new DescribeTableCommand({ TableName: copy }));
  // Another stage's table, by a mistyped name, would replace all records.
  if (Table?.RestoreSummary?.SourceTableArn?.split('/').at(-1) !== table)
    throw new Error(`The table ${copy} isn't a restored copy of ${table}.`);
  const writers = await writersOf(aws, table);
  print(`Stopping ${writers.length} functions that write`);
  for (const { name } of writers) await reserve(aws, name, 0);
  await aws.pause(longestRunMs);
  let changes = 0;
  for (let round = 1, some = 1; some > 0; round += 1) {
    if (round > maxRounds) throw new Error(`Something else writes to ${table}: stop it, and run this again.`);
    some = await align(aws, copy, table);
    changes += some;
  }
  for (const { name, reserved } of writers) await reserve(aws, name, reserved);
  print(`${table} has the records of ${copy}, after ${changes} changes.`);
}

/** Adds the table's missing records, and deletes the surplus. Returns the number of changes. */
async function align(aws: Aws, copy: string, table: string): Promise<number> {
  const written = await compare(aws, table, {
    from: copy,
    to: table,
    changeOf: (item, now) => (isDeepStrictEqual(item, now) ? undefined : { PutRequest: { Item: item } }),
  });
  const deleted = await compare(aws, table, {
    from: table,
    to: copy,
    changeOf: (item, then) => (then ? undefined : { DeleteRequest: { Key: keyOf(item) } }),
  });
  return written + deleted;
}

/** The functions whose roles may write, each with its reservation. */
async function writersOf({ cloudformation }: Aws, StackName: string) {
  const { TemplateBody } = await cloudformation.send(new GetTemplateCommand({ StackName }));
  const { Resources }: Template = JSON.parse(String(TemplateBody));
  return Object.values(Resources).flatMap(({ Type, Properties }) => {
    if (Type !== 'AWS::Lambda::Function') return [];
    const [role = ''] = referencesOf(Properties.Role);
    if (!/dynamodb:(?:Put|Update|Delete)/.test(JSON.stringify(Resources[role]))) return [];
    return [{ name: String(Properties.FunctionName), reserved: Properties.ReservedConcurrentExecutions }];
  });
}

async function reserve({ lambda }: Aws, FunctionName: string, reserved: unknown): Promise<void> {
  const put = { FunctionName, ReservedConcurrentExecutions: Number(reserved) };
  if (reserved === undefined) await lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
  else await lambda.send(new PutFunctionConcurrencyCommand(put));
}

const keyOf = ({ pk, sk }: AttributeMap) => ({ pk, sk }) as AttributeMap;
const nameOf = ({ pk, sk }: AttributeMap) => `${pk?.S} ${sk?.S}`;
const segments = Array.from({ length: 8 }, (_, Segment) => ({ Segment, TotalSegments: 8 }));

interface Comparison {
  /** Read completely. */
  from: string;
  /** Read at the keys of the other one. */
  to: string;
  changeOf: (item: AttributeMap, other: AttributeMap | undefined) => WriteRequest | undefined;
}

/** Compares two tables item by item, and sends the changes to one of them. Returns their number. */
async function compare(aws: Aws, changed: string, { from, to, changeOf }: Comparison): Promise<number> {
  const counts = segments.map(async (segment) => {
    let count = 0;
    const input = { TableName: from, ConsistentRead: true, Limit: maxRead, ...segment };
    const pages: AsyncIterable<ScanCommandOutput> = paginateScan({ client: aws.dynamodb }, input);
    for await (const { Items = [] } of pages) {
      const others = await read(aws, to, Items.map(keyOf));
      const changes = Items.flatMap((item) => changeOf(item, others.get(nameOf(item))) ?? []);
      await write(aws, changed, changes);
      count += changes.length;
    }
    return count;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

async function read(aws: Aws, table: string, keys: AttributeMap[]): Promise<Map<string, AttributeMap>> {
  const found: AttributeMap[] = [];
  let pending = keys;
  while (pending.length > 0) {
    const input = { RequestItems: { [table]: { Keys: pending, ConsistentRead: true } } };
    const { Responses, UnprocessedKeys } = await aws.dynamodb.send(new BatchGetItemCommand(input));
    found.push(...(Responses?.[table] ?? []));
    pending = UnprocessedKeys?.[table]?.Keys ?? [];
    if (pending.length > 0) await aws.pause(throttledMs);
  }
  return new Map(found.map((item) => [nameOf(item), item]));
}

async function write(aws: Aws, table: string, changes: WriteRequest[]): Promise<void> {
  let pending = changes;
  while (pending.length > 0) {
    const input = { RequestItems: { [table]: pending.slice(0, maxWrite) } };
    const { UnprocessedItems } = await aws.dynamodb.send(new BatchWriteItemCommand(input));
    const left = UnprocessedItems?.[table] ?? [];
    pending = [...left, ...pending.slice(maxWrite)];
    if (left.length > 0) await aws.pause(throttledMs);
  }
}
