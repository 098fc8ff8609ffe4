import { hostname, userInfo } from 'node:os';
import { Command } from 'commander';
import { saidByAws } from './command.ts';
import { Rejection } from './registry/administration.ts';
import { isListening } from '@node-registry/command-line/is-listening';
import { localAddress, localOutputs, localStores } from './local-stack.ts';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';

const timeoutMs = 2000;
const { tableName, bucketName } = localStores;
const dynamodbUrl = localAddress(localStores.dynamodbPort);

/**
 * Points the registry at the table of --region and --table, with the SDK's own credentials; without them, at
 * the local stack or the DynamoDB that the environment names.
 */
export function chooseTarget(args: string[]): void {
  // The command line itself reports one without a value.
  const options = new Command().option('--region [REGION]').option('--table [NAME]');
  options.parseOptions(args);
  const { region, table } = options.opts<Record<string, string | true | undefined>>();
  if (typeof region === 'string' && typeof table === 'string') {
    Object.assign(process.env, { AWS_REGION: region, TABLE_NAME: table });
    return;
  }
  // A profile or a session of the shell would take precedence over the key of the local servers.
  delete process.env.AWS_PROFILE;
  delete process.env.AWS_SESSION_TOKEN;
  process.env.AWS_ENDPOINT_URL_DYNAMODB ??= dynamodbUrl;
  process.env.AWS_ENDPOINT_URL_S3 ??= localAddress(localStores.s3Port);
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'LOCALACCESSKEY',
    AWS_SECRET_ACCESS_KEY: 'LOCALSECRETKEY',
    TABLE_NAME: tableName,
    BUCKET_NAME: bucketName,
    ...localOutputs,
  });
}

/** Shows where a command acts: --region and --table are easily forgotten. */
export function describeTarget(): string {
  const { AWS_ENDPOINT_URL_DYNAMODB: address, AWS_REGION, TABLE_NAME } = process.env;
  if (address === undefined) return `${TABLE_NAME} in ${AWS_REGION}`;
  const isLocalStack = address === dynamodbUrl && TABLE_NAME === tableName;
  return `${isLocalStack ? 'the local stack, ' : ''}${TABLE_NAME} at ${address}`;
}

/** Reports at once that a server is not running. The SDK would retry, then fail without a clear sentence. */
export async function requireListening(): Promise<void> {
  const address = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  if (address === undefined || (await isListening(address, timeoutMs))) return;
  const remedy = address === dynamodbUrl ? 'start it with npm start' : 'is it running?';
  throw new Rejection(`Nothing listens on ${address}: ${remedy}`);
}

/** Who the history names. On a deployed table AWS says it, and a name that a person chooses stands only next to that. */
export async function findActor(asksAws: boolean): Promise<string> {
  const claimed = process.env.ADMIN_ACTOR;
  const arn = asksAws ? await readCallerArn() : undefined;
  if (arn !== undefined) return claimed ? `${arn} (${claimed})` : arn;
  return claimed || `${userInfo().username}@${hostname()}`;
}

/** Undefined for a server of this machine, which knows no one. */
async function readCallerArn(): Promise<string | undefined> {
  const { AWS_ENDPOINT_URL_DYNAMODB: address, AWS_ENDPOINT_URL_STS: sts, AWS_REGION: region } = process.env;
  const isHere = address !== undefined && /^(?:localhost|127\.)/.test(new URL(address).hostname);
  if (isHere && sts === undefined) return undefined;
  try {
    const { Arn } = await new STSClient(region ? { region } : {}).send(new GetCallerIdentityCommand({}));
    return String(Arn);
  } catch (error) {
    throw new Rejection(
      `Nothing was changed: AWS doesn't say who calls, for the history: ${saidByAws(error as Error)}`,
      { cause: error },
    );
  }
}

/**
 * Finds the parts of a deployed stage in the outputs of its stack, which has the table's name, and points the
 * bucket's modules at them. The local stack and tests name theirs in the environment. Returns whether readers reach the
 * bucket only under this stage's control.
 */
export async function findStage(): Promise<boolean> {
  const { BUCKET_NAME, TABLE_NAME = '', AWS_REGION = '' } = process.env;
  if (BUCKET_NAME !== undefined) return true;
  const outputs = await readOutputs(TABLE_NAME, AWS_REGION);
  const { BucketName, DistributionId, DownloadAddress, SiteSettings = '', CallerLimits = '' } = outputs;
  if (!BucketName || !DownloadAddress)
    throw new Rejection(
      `The stack of ${describeTarget()} has no outputs BucketName and DownloadAddress: deploy it again.`,
    );
  Object.assign(process.env, {
    BUCKET_NAME: BucketName,
    DOWNLOAD_BASE_URL: DownloadAddress,
    ...(DistributionId && { DISTRIBUTION_ID: DistributionId }),
    ...Object.fromEntries(
      `${SiteSettings}\n${CallerLimits}`
        .split('\n')
        .map((line) => [/^\w*/.exec(line)?.[0], line.replace(/^\w*=/, '')]),
    ),
  });
  return DistributionId !== undefined;
}

/** For the limits that a caller has without its own: a stack of an earlier release doesn't say them. */
export async function findLimits(): Promise<void> {
  const areNamed = process.env.BUCKET_NAME !== undefined;
  await findStage();
  if (!areNamed && process.env.CREDITS_PER_DAY === undefined)
    throw new Rejection(`The stack of ${describeTarget()} has no output CallerLimits: deploy it again.`);
}

async function readOutputs(StackName: string, region: string): Promise<Record<string, string>> {
  try {
    const { Stacks = [] } = await new CloudFormationClient({ region }).send(
      new DescribeStacksCommand({ StackName }),
    );
    const outputs = Stacks[0]?.Outputs ?? [];
    return Object.fromEntries(outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
  } catch (error) {
    throw new Rejection(`The outputs of the stack ${StackName} can't be read: ${saidByAws(error as Error)}`, {
      cause: error,
    });
  }
}
