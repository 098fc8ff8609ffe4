import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { parse } from 'yaml';

interface Server {
  url: string;
  stop: () => Promise<void>;
}

const patienceMs = 5000;

/** Starts the embedded DynamoDB-compatible server on any free port, in memory without a file. */
export async function startDynamoDb(file?: string): Promise<Server> {
  const port = await findFreePort();
  const child = spawn(
    findBinary(),
    ['--port', String(port), ...(file === undefined ? [] : ['--db-path', file])],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error('The embedded DynamoDB did not start in time.')),
      patienceMs,
    );
    let text = '';
    const read = (chunk: Buffer) => {
      text += chunk;
      if (!text.includes('listening')) return;
      clearTimeout(timer);
      resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`The embedded DynamoDB stopped: ${text.trim()}`)));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  return { url: `http://127.0.0.1:${port}`, stop };
}

/** Creates the table as it is deployed; one that exists already is left as it is. */
export async function createTable(url: string, tableName: string): Promise<void> {
  const client = new DynamoDBClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const { TimeToLiveSpecification, ...definition } = await readTableDefinition();
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

async function readTableDefinition(): Promise<TableDefinition> {
  const file = parse(await readFile('tools/deploy/table.yml', 'utf8'));
  const { BillingMode, AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, TimeToLiveSpecification } =
    file.Resources.Table.Properties;
  return {
    TableName: '',
    BillingMode,
    AttributeDefinitions,
    KeySchema,
    GlobalSecondaryIndexes,
    TimeToLiveSpecification,
  };
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

function findBinary(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`@dynoxide/${platform}/package.json`);
    return join(dirname(manifest), process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide');
  } catch (cause) {
    const message = `There is no embedded DynamoDB for ${platform}: start another one, such as DynamoDB Local, and set AWS_ENDPOINT_URL_DYNAMODB to its address.`;
    throw new Error(message, { cause });
  }
}
