import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { paginateListStackResources } from '@aws-sdk/client-cloudformation';
import {
  CreateBackupCommand,
  DeleteTableCommand,
  DescribeBackupCommand,
  DescribeTimeToLiveCommand,
  ListTagsOfResourceCommand,
  RestoreTableFromBackupCommand,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
  type Tag,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  type UpdateTableCommandInput,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import {
  CreateEventSourceMappingCommand,
  DeleteFunctionConcurrencyCommand,
  type EventSourceMappingConfiguration,
  GetFunctionConcurrencyCommand,
  ListEventSourceMappingsCommand,
  PutFunctionConcurrencyCommand,
} from '@aws-sdk/client-lambda';
import { type Aws, describeTable, patiently, until, whenActive } from './aws.ts';

/*
 * Restores the whole table of a stage under its own name, because roles, alarms and functions name it. The data is
 * restored under another name, checked there by the operator, and backed up; only then is the table replaced. All that must
 * outlive the table is kept in a file, so that a run that failed can be repeated: it goes on after the last finished step.
 */

export interface Stage {
  /** The stack. */
  name: string;
  table: string;
  /** Where the settings and the finished steps are kept. */
  file: string;
  print: (line: string) => void;
}

interface Kept {
  restoreTime: string;
  table: TableDescription;
  tags: Tag[];
  /** The readers of the table's stream. A new stream has a new ARN, and existing mappings keep reading the old one. */
  mappings: EventSourceMappingConfiguration[];
  /** Each function that may write, with the reservation that it had. */
  writers?: { name: string; reserved?: number | undefined }[];
  backup?: string | undefined;
  done: string[];
}

/** Functions that cannot write keep running. A test compares them with their roles. */
export const readers = ['bulkNodeVersions', 'unknownRoute'];
/** No function runs longer. */
const longestRunMs = 300_000;

const copyOf = (stage: Stage) => `${stage.table}-restored`;

/** Restores the data of a moment under another name. Nothing that serves requests is changed. */
export async function copyTable(aws: Aws, stage: Stage, restoreTime: string): Promise<void> {
  const kept = existsSync(stage.file) ? await load(stage) : await look(aws, stage, restoreTime);
  if (kept.restoreTime !== restoreTime)
    throw new Error(`${stage.file} belongs to a restore to ${kept.restoreTime}. Delete it to begin another.`);
  await save(stage, kept);
  const names = { SourceTableName: stage.table, TargetTableName: copyOf(stage) };
  const restore = { ...names, RestoreDateTime: new Date(restoreTime) };
  if ((await describeTable(aws, copyOf(stage))) === undefined)
    await aws.dynamodb.send(new RestoreTableToPointInTimeCommand(restore));
  await whenActive(aws, copyOf(stage));
  stage.print(`${copyOf(stage)} has the data of ${restoreTime}. Check it before you replace ${stage.table}.`);
}

/** Replaces the table by its checked copy. Paid requests, publishes and updates get 503 until the end. */
export async function replaceTable(aws: Aws, stage: Stage): Promise<void> {
  const kept = await load(stage);
  for (const [name, run] of Object.entries(steps)) {
    if (kept.done.includes(name)) continue;
    stage.print(name);
    await run(aws, stage, kept);
    kept.done.push(name);
    await save(stage, kept);
  }
  stage.print(
    `${stage.table} has the data of ${kept.restoreTime}. Delete ${stage.file} and ${copyOf(stage)}.`,
  );
}

type Step = (aws: Aws, stage: Stage, kept: Kept) => Promise<void>;

const steps: Record<string, Step> = {
  'Stop every function that writes': stopWriters,
  'Back up the checked copy': backUp,
  'Delete the table': deleteTable,
  'Restore the backup under the name of the table': restoreBackup,
  'Set what a restored table lacks': setUp,
  'Start the stream': startStream,
  'Start the functions': startWriters,
};

async function look(aws: Aws, stage: Stage, restoreTime: string): Promise<Kept> {
  const table = await describeTable(aws, stage.table);
  if (table === undefined) throw new Error(`There is no table ${stage.table}.`);
  const list = new ListTagsOfResourceCommand({ ResourceArn: table.TableArn });
  const { Tags = [] } = await aws.dynamodb.send(list);
  const tags = Tags.filter(({ Key }) => !Key?.startsWith('aws:'));
  return { restoreTime, table, tags, mappings: await mappingsOf(aws, table.LatestStreamArn), done: [] };
}

async function mappingsOf(aws: Aws, EventSourceArn: string | undefined) {
  const listed = await aws.lambda.send(new ListEventSourceMappingsCommand({ EventSourceArn }));
  return listed.EventSourceMappings ?? [];
}

async function stopWriters(aws: Aws, stage: Stage, kept: Kept): Promise<void> {
  // Kept before any is changed: a second run would find 0 as their own reservations.
  if (kept.writers === undefined) {
    kept.writers = await writersOf(aws, stage);
    await save(stage, kept);
  }
  for (const { name } of kept.writers) await reserve(aws, name, 0);
  await aws.pause(longestRunMs);
}

async function writersOf(aws: Aws, stage: Stage): Promise<NonNullable<Kept['writers']>> {
  const writers: NonNullable<Kept['writers']> = [];
  const pages = paginateListStackResources({ client: aws.cloudformation }, { StackName: stage.name });
  for await (const { StackResourceSummaries = [] } of pages)
    for (const { ResourceType, PhysicalResourceId: name = '' } of StackResourceSummaries) {
      if (ResourceType !== 'AWS::Lambda::Function') continue;
      if (readers.some((reader) => name.endsWith(`-${reader}`))) continue;
      const concurrency = new GetFunctionConcurrencyCommand({ FunctionName: name });
      writers.push({ name, reserved: (await aws.lambda.send(concurrency)).ReservedConcurrentExecutions });
    }
  return writers;
}

async function reserve(aws: Aws, FunctionName: string, reserved: number | undefined): Promise<void> {
  const put = { FunctionName, ReservedConcurrentExecutions: reserved };
  if (reserved === undefined) await aws.lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
  else await aws.lambda.send(new PutFunctionConcurrencyCommand(put));
}

async function backUp(aws: Aws, stage: Stage, kept: Kept): Promise<void> {
  if (kept.backup === undefined) {
    const names = { TableName: copyOf(stage), BackupName: `${stage.table}-restore` };
    kept.backup = (await aws.dynamodb.send(new CreateBackupCommand(names))).BackupDetails?.BackupArn;
    await save(stage, kept);
  }
  await until(aws, 'the backup is available', async () => (await isBackedUp(aws, kept)) || undefined);
}

async function isBackedUp(aws: Aws, { backup }: Kept): Promise<boolean> {
  const described = await aws.dynamodb.send(new DescribeBackupCommand({ BackupArn: backup }));
  return described.BackupDescription?.BackupDetails?.BackupStatus === 'AVAILABLE';
}

async function deleteTable(aws: Aws, { table: TableName }: Stage, kept: Kept): Promise<void> {
  const table = await describeTable(aws, TableName);
  if (table !== undefined && table.TableId !== kept.table.TableId)
    throw new Error(`${TableName} is not the table that was restored from; it is not deleted.`);
  if (!(await isBackedUp(aws, kept))) throw new Error('The backup is not available; nothing is deleted.');
  if (table?.DeletionProtectionEnabled === true)
    await update(aws, { TableName, DeletionProtectionEnabled: false });
  if (table !== undefined && table.TableStatus !== 'DELETING') {
    await whenActive(aws, TableName);
    await patiently(aws, () => aws.dynamodb.send(new DeleteTableCommand({ TableName })));
  }
  const isGone = async () => (await describeTable(aws, TableName)) === undefined || undefined;
  await until(aws, `${TableName} is gone`, isGone);
}

async function restoreBackup(aws: Aws, { table }: Stage, kept: Kept): Promise<void> {
  const restore = new RestoreTableFromBackupCommand({
    TargetTableName: table,
    BackupArn: kept.backup,
    BillingModeOverride: 'PAY_PER_REQUEST',
    SSESpecificationOverride: { Enabled: true, SSEType: 'KMS' },
  });
  if ((await describeTable(aws, table)) === undefined) await patiently(aws, () => aws.dynamodb.send(restore));
  await whenActive(aws, table);
}

async function update(aws: Aws, changes: UpdateTableCommandInput): Promise<void> {
  await patiently(aws, () => aws.dynamodb.send(new UpdateTableCommand(changes)));
}

/** A restored table has the data and the indexes, and none of these settings. */
async function setUp(aws: Aws, { table: TableName }: Stage, kept: Kept): Promise<void> {
  const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const recovery = { PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } };
  const ttl = { TimeToLiveSpecification: { Enabled: true, AttributeName: 'ttl' } };

  const recoverable = new UpdateContinuousBackupsCommand({ TableName, ...recovery });
  await patiently(aws, () => aws.dynamodb.send(recoverable));
  const described = await aws.dynamodb.send(new DescribeTimeToLiveCommand({ TableName }));
  if (!/^ENABL/.test(String(described.TimeToLiveDescription?.TimeToLiveStatus)))
    await patiently(aws, () => aws.dynamodb.send(new UpdateTimeToLiveCommand({ TableName, ...ttl })));
  const table = await whenActive(aws, TableName);
  const { OnDemandThroughput, GlobalSecondaryIndexes = [] } = kept.table;
  // AWS rejects a change that changes nothing.
  if (OnDemandThroughput && !same(table.OnDemandThroughput, OnDemandThroughput))
    await update(aws, { TableName, OnDemandThroughput });
  for (const { IndexName, OnDemandThroughput } of GlobalSecondaryIndexes) {
    const index = table.GlobalSecondaryIndexes?.find((it) => it.IndexName === IndexName);
    const GlobalSecondaryIndexUpdates = [{ Update: { IndexName, OnDemandThroughput } }];
    if (OnDemandThroughput && !same(index?.OnDemandThroughput, OnDemandThroughput))
      await update(aws, { TableName, GlobalSecondaryIndexUpdates });
  }
  const tagging = new TagResourceCommand({ ResourceArn: table.TableArn, Tags: kept.tags });
  if (kept.tags.length > 0) await patiently(aws, () => aws.dynamodb.send(tagging));
  if (table.DeletionProtectionEnabled !== true)
    await update(aws, { TableName, DeletionProtectionEnabled: true });
  const { StreamSpecification } = kept.table;
  if (StreamSpecification && table.StreamSpecification?.StreamEnabled !== true)
    await update(aws, { TableName, StreamSpecification });
}

async function startStream(aws: Aws, { table: TableName, print }: Stage, kept: Kept): Promise<void> {
  const { LatestStreamArn: EventSourceArn } = await whenActive(aws, TableName);
  const existing = await mappingsOf(aws, EventSourceArn);
  for (const { FunctionArn, ...mapping } of kept.mappings) {
    if (existing.some((it) => it.FunctionArn === FunctionArn)) continue;
    const start = { StartingPositionTimestamp: undefined, StartingPosition: 'TRIM_HORIZON' } as const;
    // The command ignores what only AWS sets.
    const settings = { ...mapping, ...start, EventSourceArn, FunctionName: FunctionArn };
    const created = new CreateEventSourceMappingCommand(settings);
    const { UUID } = await patiently(aws, () => aws.lambda.send(created));
    print(`The stack does not know the event source mapping ${UUID} of ${FunctionArn}: note it.`);
  }
}

async function startWriters(aws: Aws, _: Stage, kept: Kept): Promise<void> {
  for (const { name, reserved } of kept.writers ?? []) await reserve(aws, name, reserved);
}

async function load({ file }: Stage): Promise<Kept> {
  if (!existsSync(file)) throw new Error(`There is no ${file}: begin with the command copy.`);
  return JSON.parse(await readFile(file, 'utf8'));
}

/** A run that dies while it writes leaves the file of before. */
async function save({ file }: Stage, kept: Kept): Promise<void> {
  await writeFile(`${file}.part`, JSON.stringify(kept, undefined, 2));
  await rename(`${file}.part`, file);
}
