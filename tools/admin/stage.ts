import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { describeTarget } from './target.ts';
import { Rejection } from './registry/rejection.ts';

/** Where a stage keeps its files and serves them. */
export interface Stage {
  /** The distribution that serves downloads; undefined for the local stack, and where the operator has another one. */
  distributionId?: string | undefined;
  /** Whether readers reach the bucket only through what this stage denies and allows. */
  servesDownloads: boolean;
}

/**
 * Finds what a deployed stage is made of in the outputs of its stack, which has the table's name, and points the bucket's
 * modules at it. The local stack and tests name theirs in the environment.
 */
export async function findStage(): Promise<Stage> {
  const { BUCKET_NAME, TABLE_NAME = '', AWS_REGION = '' } = process.env;
  if (BUCKET_NAME !== undefined) return { servesDownloads: true };
  const outputs = await readOutputs(TABLE_NAME, AWS_REGION);
  const { BucketName, DistributionId, DownloadAddress, SiteDomainName = '' } = outputs;
  if (!BucketName || !DownloadAddress)
    throw new Rejection(
      `The stack of ${describeTarget()} has no outputs BucketName and DownloadAddress: deploy it again.`,
    );
  Object.assign(process.env, {
    BUCKET_NAME: BucketName,
    DOWNLOAD_BASE_URL: DownloadAddress,
    SITE_DOMAIN_NAME: SiteDomainName,
  });
  return { distributionId: DistributionId, servesDownloads: DistributionId !== undefined };
}

async function readOutputs(StackName: string, region: string): Promise<Record<string, string>> {
  try {
    const { Stacks = [] } = await new CloudFormationClient({ region }).send(
      new DescribeStacksCommand({ StackName }),
    );
    const outputs = Stacks[0]?.Outputs ?? [];
    return Object.fromEntries(outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
  } catch (error) {
    throw new Rejection(`The outputs of the stack ${StackName} can't be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
