import { readFile } from 'node:fs/promises';
import type { CreateTableCommandInput, GlobalSecondaryIndex } from '@aws-sdk/client-dynamodb';

type TableDefinition = Omit<CreateTableCommandInput, 'TableName'> & {
  TimeToLiveSpecification: { AttributeName: string; Enabled: boolean };
};

/** Creates the table as deployed, unless it exists. */
export async function createTable(url: string, TableName: string, given?: TableDefinition): Promise<void> {
  const { TimeToLiveSpecification, ...definition } = given ?? (await tableDefinition());
  if (await send(url, 'CreateTable', { ...definition, TableName }))
    await send(url, 'UpdateTimeToLive', { TableName, TimeToLiveSpecification });
}

/**
 * False if the table exists. A local DynamoDB wants a signature but verifies none, and the processes of many tests would
 * load the SDK for nothing else.
 */
async function send(url: string, operation: string, input: object): Promise<boolean> {
  const scope = 'Credential=local/20260101/us-east-1/dynamodb/aws4_request';
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `AWS4-HMAC-SHA256 ${scope}, SignedHeaders=host, Signature=none`,
      'x-amz-date': '20260101T000000Z',
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
    },
    body: JSON.stringify(input),
  });
  if (answer.ok) return true;
  const error = await answer.text();
  if (error.includes('ResourceInUseException')) return false;
  throw new Error(`${operation}: ${error}`);
}

/** The table of the template, for a server without its limits. */
export async function tableDefinition(): Promise<TableDefinition> {
  const { parse } = await import('yaml');
  const { Properties } = parse(await readFile('infra/template/table.yml', 'utf8')).Resources.Table;
  const { BillingMode, AttributeDefinitions, KeySchema, LocalSecondaryIndexes } = Properties;
  return {
    BillingMode,
    AttributeDefinitions,
    KeySchema,
    LocalSecondaryIndexes,
    // A ceiling on throughput limits costs, which don't exist here.
    GlobalSecondaryIndexes: Properties.GlobalSecondaryIndexes.map(
      ({ OnDemandThroughput: _, ...index }: GlobalSecondaryIndex) => index,
    ),
    TimeToLiveSpecification: Properties.TimeToLiveSpecification,
  };
}
