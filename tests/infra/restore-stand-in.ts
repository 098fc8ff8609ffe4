import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import type { Aws } from '../../tools/restore/aws.ts';
import type { Part } from '../../infra/plugins/references.ts';
import { ofType, type Packaged, properties } from './packaging.ts';

/*
 * The part of AWS that a restore uses, with the rules that AWS documents: a table accepts changes only while it is
 * ACTIVE, an update that changes nothing is rejected, and a restored table has none of its settings
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CreateBackup.html).
 */
interface Table {
  description: Part;
  /** The moment whose data it has. */
  data: string;
  timeToLive?: Part;
  isRecoverable: boolean;
  tags: Part[];
  /** For how many more pauses it changes. */
  changing: number;
  isDeleted: boolean;
}

export const stageName = 'node-registry-prod';
const now = '2026-11-22T12:00:00Z';

function rejected(name: string): never {
  throw Object.assign(new Error('AWS rejects this'), { name });
}

/** An update that changes nothing is rejected. */
function change(part: Part, changes: Part): void {
  if (JSON.stringify(part) === JSON.stringify({ ...part, ...changes })) rejected('ValidationException');
  Object.assign(part, changes);
}

export class StandIn {
  readonly tables = new Map<string, Table>();
  readonly functions = new Map<string, number | undefined>();
  readonly mappings: Part[] = [];
  readonly backups = new Map<string, { data: string; polls: number }>();
  calls = 0;
  pausedMs = 0;
  /** The number of the call that fails, and whether AWS carried it out all the same. */
  failure: { at: number; isApplied: boolean } | undefined;
  #ids = 0;

  constructor(stage: Packaged) {
    const { TimeToLiveSpecification, PointInTimeRecoverySpecification, ...rest } = properties(stage, 'Table');
    const { TableName, StreamSpecification, ...settings } = rest;
    const description = { ...this.#created(TableName), ...settings };
    this.tables.set(TableName, {
      description: { ...description, ...this.#streamOf(TableName, StreamSpecification) },
      data: now,
      timeToLive: TimeToLiveSpecification,
      isRecoverable: PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled,
      tags: [{ Key: 'team', Value: 'registry' }],
      changing: 0,
      isDeleted: false,
    });
    for (const [, it] of ofType(stage, 'AWS::Lambda::Function'))
      this.functions.set(it.FunctionName, it.ReservedConcurrentExecutions);
    const streamArn = this.#table(TableName).description.LatestStreamArn;
    for (const [id, { EventSourceArn, BatchSize }] of ofType(stage, 'AWS::Lambda::EventSourceMapping'))
      this.mappings.push({
        ...{ UUID: id, State: 'Enabled', FunctionArn: `arn:of:${id}`, BatchSize },
        EventSourceArn: JSON.stringify(EventSourceArn).includes('StreamArn') ? streamArn : 'arn:of:a-queue',
      });
  }

  /** Clients whose commands end here. */
  clients(): Aws {
    const settings = { region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } };
    const [dynamodb, lambda, cloudformation] = [
      new DynamoDBClient(settings),
      new LambdaClient(settings),
      new CloudFormationClient(settings),
    ];
    for (const { middlewareStack } of [dynamodb, lambda, cloudformation] as Part[])
      middlewareStack.add(
        (_: Part, { commandName }: Part) =>
          async ({ input }: Part) => ({ output: this.#answer(commandName.replace('Command', ''), input) }),
        { step: 'initialize' },
      );
    return { dynamodb, lambda, cloudformation, pause: this.#pause };
  }

  #answer(operation: string, input: Part): Part {
    const run = this.#operations[operation];
    if (run === undefined) throw new Error(`The stand-in has no ${operation}`);
    const isFailing = this.failure?.at === this.calls;
    this.calls += 1;
    if (isFailing && this.failure?.isApplied !== true) throw new Error('The connection was lost');
    try {
      return JSON.parse(JSON.stringify(run(JSON.parse(JSON.stringify(input))) ?? {}));
    } finally {
      // biome-ignore lint/correctness/noUnsafeFinally: a lost response hides an error as well.
      if (isFailing) throw new Error('The response was lost');
    }
  }

  readonly #pause = async (ms: number) => {
    this.pausedMs += ms;
    for (const backup of this.backups.values()) backup.polls = Math.max(0, backup.polls - 1);
    for (const [name, table] of this.tables) {
      table.changing = Math.max(0, table.changing - 1);
      if (table.isDeleted && table.changing === 0) this.tables.delete(name);
    }
  };

  readonly #operations: Record<string, (input: Part) => unknown> = {
    DescribeTable: ({ TableName }) => {
      const table = this.#table(TableName);
      const TableStatus = table.isDeleted ? 'DELETING' : table.changing > 0 ? 'UPDATING' : 'ACTIVE';
      const { GlobalSecondaryIndexes: indexes } = table.description;
      const GlobalSecondaryIndexes = indexes.map((it: Part) => ({ ...it, IndexStatus: TableStatus }));
      return { Table: { ...table.description, TableStatus, GlobalSecondaryIndexes } };
    },
    ListTagsOfResource: ({ ResourceArn }) => ({
      Tags: [...this.#byArn(ResourceArn).tags, { Key: 'aws:cloudformation:stack-name', Value: stageName }],
    }),
    TagResource: ({ ResourceArn, Tags }) => {
      this.#byArn(ResourceArn).tags = Tags;
    },
    RestoreTableToPointInTime: ({ SourceTableName, TargetTableName, RestoreDateTime }) => {
      if (!this.#table(SourceTableName).isRecoverable) rejected('PointInTimeRecoveryUnavailableException');
      this.#restore(TargetTableName, RestoreDateTime, {});
    },
    CreateBackup: ({ TableName }) => {
      this.#ids += 1;
      const BackupArn = `arn:backup:${this.#ids}`;
      this.backups.set(BackupArn, { data: this.#active(TableName).data, polls: 2 });
      return { BackupDetails: { BackupArn } };
    },
    DescribeBackup: ({ BackupArn }) => {
      const backup = this.backups.get(BackupArn) ?? rejected('BackupNotFoundException');
      const BackupStatus = backup.polls > 0 ? 'CREATING' : 'AVAILABLE';
      return { BackupDescription: { BackupDetails: { BackupStatus } } };
    },
    RestoreTableFromBackup: ({ TargetTableName, BackupArn, ...overrides }) => {
      const backup = this.backups.get(BackupArn);
      if (backup === undefined || backup.polls > 0) return rejected('BackupNotFoundException');
      const { Enabled: SSEEnabled, SSEType } = overrides.SSESpecificationOverride;
      const BillingMode = overrides.BillingModeOverride;
      this.#restore(TargetTableName, backup.data, { BillingMode, SSESpecification: { SSEEnabled, SSEType } });
    },
    UpdateTable: ({ TableName, GlobalSecondaryIndexUpdates = [], ...changes }) => {
      const { description } = this.#changing(TableName);
      for (const { Update } of GlobalSecondaryIndexUpdates)
        change(
          description.GlobalSecondaryIndexes.find(({ IndexName }: Part) => IndexName === Update.IndexName),
          Update,
        );
      if (GlobalSecondaryIndexUpdates.length === 0) change(description, changes);
      if (changes.StreamSpecification)
        Object.assign(description, this.#streamOf(TableName, changes.StreamSpecification));
    },
    DeleteTable: ({ TableName }) => {
      const table = this.#active(TableName);
      if (table.description.DeletionProtectionEnabled) rejected('ValidationException');
      if (TableName === stageName) this.#checkThatNothingIsLost();
      Object.assign(table, { changing: 1, isDeleted: true });
    },
    UpdateContinuousBackups: ({ TableName, PointInTimeRecoverySpecification }) => {
      const table = this.#changing(TableName);
      table.isRecoverable = PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled;
    },
    DescribeTimeToLive: ({ TableName }) => {
      const TimeToLiveStatus = this.#table(TableName).timeToLive ? 'ENABLED' : 'DISABLED';
      return { TimeToLiveDescription: { TimeToLiveStatus } };
    },
    UpdateTimeToLive: ({ TableName, TimeToLiveSpecification }) => {
      const table = this.#changing(TableName);
      if (table.timeToLive !== undefined) rejected('ValidationException');
      table.timeToLive = TimeToLiveSpecification;
    },
    ListStackResources: ({ NextToken }) => ({
      NextToken: NextToken ? undefined : 'second page',
      StackResourceSummaries: NextToken
        ? [...this.functions.keys()].map((PhysicalResourceId) => ({
            ResourceType: 'AWS::Lambda::Function',
            PhysicalResourceId,
          }))
        : [{ ResourceType: 'AWS::DynamoDB::Table', PhysicalResourceId: stageName }],
    }),
    GetFunctionConcurrency: ({ FunctionName }) => ({
      ReservedConcurrentExecutions: this.functions.get(FunctionName),
    }),
    PutFunctionConcurrency: ({ FunctionName, ReservedConcurrentExecutions }) => {
      this.functions.set(FunctionName, ReservedConcurrentExecutions);
    },
    DeleteFunctionConcurrency: ({ FunctionName }) => {
      this.functions.set(FunctionName, undefined);
    },
    ListEventSourceMappings: ({ EventSourceArn }) => ({
      EventSourceMappings: this.mappings.filter((mapping) => mapping.EventSourceArn === EventSourceArn),
    }),
    CreateEventSourceMapping: ({ FunctionName: FunctionArn, BatchSize, EventSourceArn }) => {
      this.#ids += 1;
      const UUID = String(this.#ids);
      this.mappings.push({ FunctionArn, BatchSize, EventSourceArn, UUID, State: 'Creating' });
      return { UUID };
    },
  };

  #created(name: string): Part {
    this.#ids += 1;
    return { TableName: name, TableId: `id-${this.#ids}`, TableArn: `arn:table:${name}` };
  }

  #streamOf(name: string, specification: Part): Part {
    if (specification === undefined) return {};
    this.#ids += 1;
    return {
      StreamSpecification: { StreamEnabled: true, StreamViewType: specification.StreamViewType },
      LatestStreamArn: `arn:table:${name}/stream/${this.#ids}`,
    };
  }

  /** What a backup holds besides the data: keys and indexes, none of the settings. */
  #restore(name: string, data: string, overrides: Part): void {
    if (this.tables.has(name)) rejected('TableAlreadyExistsException');
    const { AttributeDefinitions, KeySchema, BillingMode, GlobalSecondaryIndexes } =
      this.#restoredFrom ?? this.#table(stageName).description;
    this.#restoredFrom = { AttributeDefinitions, KeySchema, BillingMode, GlobalSecondaryIndexes };
    const indexes = GlobalSecondaryIndexes.map(({ OnDemandThroughput: _, ...index }: Part) => ({ ...index }));
    this.tables.set(name, {
      description: {
        ...this.#created(name),
        AttributeDefinitions,
        KeySchema,
        BillingMode,
        GlobalSecondaryIndexes: indexes,
        ...overrides,
        DeletionProtectionEnabled: false,
      },
      data,
      isRecoverable: false,
      tags: [],
      changing: 2,
      isDeleted: false,
    });
  }

  #restoredFrom: Part;

  #table(name: string): Table {
    return this.tables.get(name) ?? rejected('ResourceNotFoundException');
  }

  #byArn(arn: string): Table {
    const [table] = [...this.tables.values()].filter(({ description }) => description.TableArn === arn);
    return table ?? rejected('ResourceNotFoundException');
  }

  #active(name: string): Table {
    const table = this.#table(name);
    return table.changing > 0 || table.isDeleted ? rejected('ResourceInUseException') : table;
  }

  #changing(name: string): Table {
    const table = this.#active(name);
    table.changing = 1;
    return table;
  }

  #checkThatNothingIsLost(): void {
    const running = [...this.functions].filter(([, reserved]) => reserved !== 0).map(([name]) => name);
    const available = [...this.backups.values()].filter(({ polls }) => polls === 0);
    if (running.some((name) => !/-(?:bulkNodeVersions|unknownRoute)$/.test(name)) || available.length === 0)
      throw new Error(`The table is deleted while ${running} run, with ${available.length} backups`);
  }
}
