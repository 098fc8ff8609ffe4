import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DescribeTableCommand, type DynamoDBClient, type TableDescription } from '@aws-sdk/client-dynamodb';
import type { LambdaClient } from '@aws-sdk/client-lambda';

export interface Aws {
  dynamodb: DynamoDBClient;
  lambda: LambdaClient;
  cloudformation: CloudFormationClient;
  pause: (ms: number) => Promise<unknown>;
}

/** A restore may take hours. */
const patience = { intervalMs: 20_000, maxPolls: 1440 };

export async function describeTable(aws: Aws, TableName: string): Promise<TableDescription | undefined> {
  try {
    return (await aws.dynamodb.send(new DescribeTableCommand({ TableName }))).Table;
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}

/** Resolves with the table once it and its indexes accept changes. The SDK's waiter does not look at indexes. */
export async function whenActive(aws: Aws, name: string): Promise<TableDescription> {
  return until(aws, `${name} is active`, async () => {
    const table = await describeTable(aws, name);
    const states = [table?.TableStatus, ...(table?.GlobalSecondaryIndexes ?? []).map((it) => it.IndexStatus)];
    return states.every((state) => state === 'ACTIVE') ? table : undefined;
  });
}

/** Asks again and again until there is a value. */
export async function until<Value>(
  aws: Aws,
  what: string,
  ask: () => Promise<Value | undefined>,
): Promise<Value> {
  for (let poll = 0; poll < patience.maxPolls; poll += 1) {
    const value = await ask();
    if (value !== undefined) return value;
    await aws.pause(patience.intervalMs);
  }
  throw new Error(`Gave up waiting until ${what}. Run the same command again.`);
}

const passing = [
  'ResourceInUseException',
  'TableInUseException',
  'LimitExceededException',
  'ContinuousBackupsUnavailableException',
];

/** Repeats a call that AWS rejects for the moment, such as a setting of a table that is still changing. */
export async function patiently<Output>(aws: Aws, call: () => Promise<Output>): Promise<Output> {
  return until(aws, 'AWS takes the change', async () => {
    try {
      return await call();
    } catch (error) {
      if (error instanceof Error && passing.includes(error.name)) return undefined;
      throw error;
    }
  });
}
