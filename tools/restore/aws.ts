import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface Aws {
  /** Calls one operation with the input and output of its API. */
  call: <Output = unknown>(service: string, operation: string, input: object) => Promise<Output>;
  pause: (ms: number) => Promise<unknown>;
}

/** An error that AWS named. */
export class AwsError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Operators have the AWS CLI and its credentials, so no SDK is installed for an operation that is rare. */
export function awsCli(region: string): Aws {
  const call: Aws['call'] = async (service, operation, input) => {
    const options = ['--region', region, '--output', 'json', '--cli-input-json', JSON.stringify(input)];
    // Version 2 of the CLI starts a pager, which waits for a key.
    const env = { ...process.env, AWS_PAGER: '' };
    try {
      const { stdout } = await promisify(execFile)('aws', [service, operation, ...options], { env });
      return JSON.parse(stdout || '{}');
    } catch (error) {
      const text = (error as { stderr?: string }).stderr ?? '';
      const [, code] = /\((\w+)\) when calling/.exec(text) ?? [];
      throw code === undefined ? error : new AwsError(code, text.trim());
    }
  };
  return { call, pause };
}

interface Ceiling {
  MaxReadRequestUnits?: number;
  MaxWriteRequestUnits?: number;
}

export interface Table {
  TableId: string;
  TableArn: string;
  TableStatus: string;
  DeletionProtectionEnabled?: boolean;
  OnDemandThroughput?: Ceiling;
  GlobalSecondaryIndexes?: { IndexName: string; IndexStatus?: string; OnDemandThroughput?: Ceiling }[];
  StreamSpecification?: { StreamEnabled: boolean; StreamViewType?: string };
  LatestStreamArn?: string;
}

/** A restore may take hours. */
const patience = { intervalMs: 20_000, maxPolls: 1440 };

export async function describeTable(aws: Aws, name: string): Promise<Table | undefined> {
  try {
    return (await aws.call<{ Table: Table }>('dynamodb', 'describe-table', { TableName: name })).Table;
  } catch (error) {
    if (error instanceof AwsError && error.code === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}

/** Resolves with the table once it and its indexes accept changes. */
export async function whenActive(aws: Aws, name: string): Promise<Table> {
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
export async function patiently<Output>(aws: Aws, ...call: Parameters<Aws['call']>): Promise<Output> {
  return until(aws, `${call[1]} succeeds`, async () => {
    try {
      return await aws.call<Output>(...call);
    } catch (error) {
      if (error instanceof AwsError && passing.includes(error.code)) return undefined;
      throw error;
    }
  });
}
