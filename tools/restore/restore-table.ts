import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { type Aws, describeTable, patiently, type Table, until, whenActive } from './aws.ts';

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

interface Mapping {
  [setting: string]: unknown;
  FunctionArn: string;
}

interface Kept {
  restoreTime: string;
  table: Table;
  tags: { Key: string; Value: string }[];
  /** The readers of the table's stream. A new stream has a new ARN, and existing mappings keep reading the old one. */
  mappings: Mapping[];
  /** Each function that may write, with the reservation that it had. */
  writers?: { name: string; reserved?: number | undefined }[];
  backup?: string;
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
  if ((await describeTable(aws, copyOf(stage))) === undefined)
    await aws.call('dynamodb', 'restore-table-to-point-in-time', {
      SourceTableName: stage.table,
      TargetTableName: copyOf(stage),
      RestoreDateTime: restoreTime,
    });
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
  const { Tags } = await aws.call<{ Tags: Kept['tags'] }>('dynamodb', 'list-tags-of-resource', {
    ResourceArn: table.TableArn,
  });
  return {
    restoreTime,
    table,
    tags: Tags.filter(({ Key }) => !Key.startsWith('aws:')),
    mappings: table.LatestStreamArn === undefined ? [] : await mappingsOf(aws, table.LatestStreamArn),
    done: [],
  };
}

async function mappingsOf(aws: Aws, EventSourceArn: string): Promise<Mapping[]> {
  const listed = aws.call<{ EventSourceMappings: Mapping[] }>('lambda', 'list-event-source-mappings', {
    EventSourceArn,
  });
  return (await listed).EventSourceMappings;
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
  const { StackResourceSummaries } = await aws.call<{
    StackResourceSummaries: { ResourceType: string; PhysicalResourceId: string }[];
  }>('cloudformation', 'list-stack-resources', { StackName: stage.name });
  const names = StackResourceSummaries.filter(({ ResourceType }) => ResourceType === 'AWS::Lambda::Function')
    .map(({ PhysicalResourceId }) => PhysicalResourceId)
    .filter((name) => !readers.some((reader) => name.endsWith(`-${reader}`)));
  const writers: NonNullable<Kept['writers']> = [];
  for (const name of names) {
    const { ReservedConcurrentExecutions: reserved } = await aws.call<{
      ReservedConcurrentExecutions?: number;
    }>('lambda', 'get-function-concurrency', { FunctionName: name });
    writers.push({ name, reserved });
  }
  return writers;
}

async function reserve(aws: Aws, name: string, reserved: number | undefined): Promise<void> {
  const FunctionName = name;
  await (reserved === undefined
    ? aws.call('lambda', 'delete-function-concurrency', { FunctionName })
    : aws.call('lambda', 'put-function-concurrency', {
        FunctionName,
        ReservedConcurrentExecutions: reserved,
      }));
}

async function backUp(aws: Aws, stage: Stage, kept: Kept): Promise<void> {
  if (kept.backup === undefined) {
    const { BackupDetails } = await aws.call<{ BackupDetails: { BackupArn: string } }>(
      'dynamodb',
      'create-backup',
      {
        TableName: copyOf(stage),
        BackupName: `${stage.table}-restore`,
      },
    );
    kept.backup = BackupDetails.BackupArn;
    await save(stage, kept);
  }
  await until(aws, 'the backup is available', async () => (await isBackedUp(aws, kept)) || undefined);
}

async function isBackedUp(aws: Aws, { backup }: Kept): Promise<boolean> {
  const { BackupDescription } = await aws.call<{
    BackupDescription: { BackupDetails: { BackupStatus: string } };
  }>('dynamodb', 'describe-backup', { BackupArn: backup });
  return BackupDescription.BackupDetails.BackupStatus === 'AVAILABLE';
}

async function deleteTable(aws: Aws, { table: TableName }: Stage, kept: Kept): Promise<void> {
  const table = await describeTable(aws, TableName);
  if (table !== undefined && table.TableId !== kept.table.TableId)
    throw new Error(`${TableName} is not the table that was restored from; it is not deleted.`);
  if (!(await isBackedUp(aws, kept))) throw new Error('The backup is not available; nothing is deleted.');
  if (table?.DeletionProtectionEnabled === true)
    await patiently(aws, 'dynamodb', 'update-table', { TableName, DeletionProtectionEnabled: false });
  if (table !== undefined && table.TableStatus !== 'DELETING') {
    await whenActive(aws, TableName);
    await patiently(aws, 'dynamodb', 'delete-table', { TableName });
  }
  await until(aws, `${TableName} is gone`, async () =>
    (await describeTable(aws, TableName)) === undefined ? true : undefined,
  );
}

async function restoreBackup(aws: Aws, { table }: Stage, kept: Kept): Promise<void> {
  if ((await describeTable(aws, table)) === undefined)
    await patiently(aws, 'dynamodb', 'restore-table-from-backup', {
      TargetTableName: table,
      BackupArn: kept.backup,
      BillingModeOverride: 'PAY_PER_REQUEST',
      SSESpecificationOverride: { Enabled: true, SSEType: 'KMS' },
    });
  await whenActive(aws, table);
}

/** A restored table has the data and the indexes, and none of these settings. */
async function setUp(aws: Aws, { table: TableName }: Stage, kept: Kept): Promise<void> {
  const update = async (changes: object) => {
    await patiently(aws, 'dynamodb', 'update-table', { TableName, ...changes });
    return whenActive(aws, TableName);
  };
  const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

  await patiently(aws, 'dynamodb', 'update-continuous-backups', {
    TableName,
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  });
  const { TimeToLiveDescription } = await aws.call<{ TimeToLiveDescription: { TimeToLiveStatus: string } }>(
    'dynamodb',
    'describe-time-to-live',
    { TableName },
  );
  if (!/^ENABL/.test(TimeToLiveDescription.TimeToLiveStatus))
    await patiently(aws, 'dynamodb', 'update-time-to-live', {
      TableName,
      TimeToLiveSpecification: { Enabled: true, AttributeName: 'ttl' },
    });
  let table = await whenActive(aws, TableName);
  const { OnDemandThroughput } = kept.table;
  if (OnDemandThroughput !== undefined && !same(table.OnDemandThroughput, OnDemandThroughput))
    table = await update({ OnDemandThroughput });
  for (const { IndexName, OnDemandThroughput } of kept.table.GlobalSecondaryIndexes ?? []) {
    const index = table.GlobalSecondaryIndexes?.find((it) => it.IndexName === IndexName);
    if (OnDemandThroughput !== undefined && !same(index?.OnDemandThroughput, OnDemandThroughput))
      table = await update({ GlobalSecondaryIndexUpdates: [{ Update: { IndexName, OnDemandThroughput } }] });
  }
  if (kept.tags.length > 0)
    await patiently(aws, 'dynamodb', 'tag-resource', { ResourceArn: table.TableArn, Tags: kept.tags });
  if (table.DeletionProtectionEnabled !== true) await update({ DeletionProtectionEnabled: true });
}

/** Settings of a mapping that only AWS sets. */
const computed = ['UUID', 'EventSourceArn', 'EventSourceMappingArn', 'FunctionArn', 'LastModified'];
const states = ['LastProcessingResult', 'State', 'StateTransitionReason', 'FilterCriteriaError'];

async function startStream(aws: Aws, { table: TableName, print }: Stage, kept: Kept): Promise<void> {
  const { StreamSpecification } = kept.table;
  if (StreamSpecification?.StreamEnabled !== true) return;
  if ((await whenActive(aws, TableName)).StreamSpecification?.StreamEnabled !== true)
    await patiently(aws, 'dynamodb', 'update-table', { TableName, StreamSpecification });
  const { LatestStreamArn: EventSourceArn = '' } = await whenActive(aws, TableName);
  const existing = await mappingsOf(aws, EventSourceArn);
  for (const { FunctionArn, ...mapping } of kept.mappings) {
    if (existing.some((it) => it.FunctionArn === FunctionArn)) continue;
    const settings = Object.entries(mapping).filter(([name]) => ![...computed, ...states].includes(name));
    const { UUID } = await patiently<{ UUID: string }>(aws, 'lambda', 'create-event-source-mapping', {
      ...Object.fromEntries(settings),
      EventSourceArn,
      FunctionName: FunctionArn,
      StartingPosition: 'TRIM_HORIZON',
    });
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
