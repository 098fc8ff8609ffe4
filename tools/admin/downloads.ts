import { setTimeout as pause } from 'node:timers/promises';
import {
  CloudFrontClient,
  CreateInvalidationCommand,
  TooManyInvalidationsInProgress,
  waitUntilInvalidationCompleted,
} from '@aws-sdk/client-cloudfront';
import { inParallel } from '../../lib/in-parallel.ts';
import { publishedFolder, publishedKeyOf } from '../../lib/bucket/object-keys.ts';
import { alignArchives } from '../../lib/registry/denied-archives.ts';
import { type CommandResult, textOf } from './command.ts';
import { newContext, readNode, Rejection } from './registry/administration.ts';
import { findStage } from './target.ts';

/** Each of them marks eight archives at once. */
const nodesAtOnce = 6;

/**
 * Applies a ban or its end to the archives of some nodes, whose records already have it: the bucket rejects
 * denied ones, and the distribution drops its copies. An interrupted run is repeated as a whole.
 */
export async function withDownloads(
  nodeIds: readonly string[],
  result: CommandResult,
): Promise<CommandResult> {
  try {
    const sentence = await alignDownloads(nodeIds);
    return { ...result, text: [result.text, sentence].filter(Boolean).join('\n') };
  } catch (error) {
    const problem = `The records are changed, but not yet every download: ${textOf(error)} Run the command again.`;
    return { ...result, problem };
  }
}

async function alignDownloads(nodeIds: readonly string[]): Promise<string> {
  const { distributionId, servesDownloads } = await findStage();
  const denied: string[] = [];
  await inParallel(nodeIds.values(), nodesAtOnce, async (nodeId) => {
    const { id } = await readNode(newContext(), nodeId);
    denied.push(...(await alignArchives(newContext, publishedFolder(id))));
  });
  if (denied.length === 0) return '';
  if (!servesDownloads)
    throw new Rejection(
      `This stage does not serve its downloads itself, so deny these where they are served:\n${denied.sort().join('\n')}\n`,
    );
  if (distributionId !== undefined) {
    // One path for each node: few may be in progress at a time.
    const folders = [...new Set(denied.map((key) => publishedFolder(publishedKeyOf(key)?.nodeId ?? '')))];
    await invalidate(distributionId, folders, (done) =>
      process.stderr.write(
        `The distribution drops its copies: ${done} of ${folders.length} nodes are done.\n`,
      ),
    );
  }
  return `${denied.length === 1 ? 'One archive is' : `${denied.length} archives are`} denied to readers.`;
}

/** CloudFront processes at most 15 paths with wildcards at a time, including those of other invalidations. */
const maxWildcards = 15;
const maxWaitSeconds = 900;
const pauseMs = 10_000;

/** Makes the distribution drop its copies below the folders, and waits until it has. */
async function invalidate(
  DistributionId: string,
  folders: readonly string[],
  progress: (done: number) => void,
): Promise<void> {
  const client = new CloudFrontClient({});
  for (let done = 0; done < folders.length; done += maxWildcards) {
    progress(done);
    const paths = folders.slice(done, done + maxWildcards).map((folder) => `/${folder}*`);
    const Id = await create(client, DistributionId, paths);
    await waitUntilInvalidationCompleted({ client, maxWaitTime: maxWaitSeconds }, { DistributionId, Id });
  }
}

async function create(
  client: CloudFrontClient,
  DistributionId: string,
  Items: string[],
): Promise<string | undefined> {
  const CallerReference = crypto.randomUUID();
  const InvalidationBatch = { CallerReference, Paths: { Quantity: Items.length, Items } };
  const endsAt = Date.now() + maxWaitSeconds * 1000;
  for (;;) {
    try {
      const { Invalidation } = await client.send(
        new CreateInvalidationCommand({ DistributionId, InvalidationBatch }),
      );
      return Invalidation?.Id;
    } catch (error) {
      if (!(error instanceof TooManyInvalidationsInProgress) || Date.now() > endsAt) throw error;
    }
    await pause(pauseMs);
  }
}
