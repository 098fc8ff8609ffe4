import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { packagingCommands } from '../parameters/stage-parameters.ts';
import { release } from '../release.ts';
import type { Framework } from './framework.ts';

/**
 * Rejects a deployment of a tree that can't be checked out again, except to stages named `dev…`, and names the
 * release by a variable of every function, in each log line.
 */
export async function nameTree(framework: Framework, folder = '.'): Promise<void> {
  const { service, processedInput, classes } = framework;
  const command = processedInput.commands.join(' ');
  if (!packagingCommands.includes(command)) return;
  const { name, problem } = await treeOf(folder);
  service.provider.environment.RELEASE = name;
  const isFree = processedInput.options.unreleased || /^dev/.test(framework.getProvider('aws').getStage());
  if (problem && command !== 'package' && !isFree)
    throw new classes.Error(
      `${problem} Check out a release, such as git checkout v${release.before ?? release.name}, or add --unreleased.`,
    );
}

export function showRelease({ service: { provider } }: Framework): void {
  const Description = 'The release, with its commit if it is not a tagged one';
  provider.compiledCloudFormationTemplate.Outputs.Release = {
    Description,
    Value: provider.environment.RELEASE,
  };
}

interface Tree {
  /** The version, followed by the commit of an unreleased tree. */
  name: string;
  /** Why it is not a release. */
  problem?: string;
}

export async function treeOf(cwd: string): Promise<Tree> {
  const tag = `v${release.name}`;
  const git = async (...args: string[]) => (await promisify(execFile)('git', args, { cwd })).stdout.trim();
  try {
    const commit = await git('rev-parse', '--short', 'HEAD');
    if (await git('status', '--porcelain'))
      return { name: `${release.name}+${commit}.changed`, problem: 'This tree has uncommitted changes.' };
    if ((await git('tag', '--points-at', 'HEAD')).split('\n').includes(tag)) return { name: release.name };
    return { name: `${release.name}+${commit}`, problem: `This commit has no tag ${tag}.` };
  } catch {
    return { name: `${release.name}+unknown`, problem: 'This folder is not a checkout of git.' };
  }
}
