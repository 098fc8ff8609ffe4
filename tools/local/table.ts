import { readFile } from 'node:fs/promises';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DynamoDBClient,
  type GlobalSecondaryIndex,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { parse } from 'yaml';

/** A client of the embedded DynamoDB, which accepts any key. */
function localClient(endpoint: string): DynamoDBClient {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return new DynamoDBClient({ endpoint, region: 'us-east-1', credentials });
}

/** Creates the table as deployed, unless it exists. */
export async function createTable(url: string, tableName: string): Promise<void> {
  const client = localClient(url);
  const { TimeToLiveSpecification, ...definition } = await tableDefinition();
  try {
    await client.send(new CreateTableCommand({ ...definition, TableName: tableName }));
    await client.send(new UpdateTimeToLiveCommand({ TableName: tableName, TimeToLiveSpecification }));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  } finally {
    client.destroy();
  }
}

type TableDefinition = CreateTableCommandInput & {
  TimeToLiveSpecification: { AttributeName: string; Enabled: boolean };
};

/** The table of the template, for a server without its limits. */
export async function tableDefinition(): Promise<TableDefinition> {
  const file = parse(await readFile('infra/template/table.yml', 'utf8'));
  const { GlobalSecondaryIndexes, TimeToLiveSpecification, ...properties } = file.Resources.Table.Properties;
  const { BillingMode, AttributeDefinitions, KeySchema, LocalSecondaryIndexes } = properties;
  return {
    TableName: '',
    BillingMode,
    AttributeDefinitions,
    KeySchema,
    LocalSecondaryIndexes,
    // A ceiling on throughput limits costs, which don't exist here.
    GlobalSecondaryIndexes: GlobalSecondaryIndexes.map(
      ({ OnDemandThroughput: _, ...index }: GlobalSecondaryIndex) => index,
    ),
    TimeToLiveSpecification,
  };
}
