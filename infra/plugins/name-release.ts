import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { packagingCommands } from '../parameters/stage-parameters.ts';
import { release } from '../release.ts';
import type { Framework } from './framework.ts';

const unreleased = { usage: 'Deploy a tree that is not exactly a tagged release', type: 'boolean' };

/**
 * Rejects a deployment of a tree that can't be checked out again, except to stages named `dev…`, and names the
 * release in an output and, by a variable of every function, in each log line.
 */
export default class NameRelease {
  readonly commands = {
    deploy: { options: { unreleased }, commands: { function: { options: { unreleased } } } },
  };
  readonly hooks: Record<string, () => Promise<void>>;

  constructor(framework: Framework, _options?: object, _utilities?: object, folder = '.') {
    const { service, processedInput, classes } = framework;
    this.hooks = {
      initialize: async () => {
        const command = processedInput.commands.join(' ');
        if (!packagingCommands.includes(command)) return;
        const { name, problem } = await treeOf(folder);
        service.provider.environment.RELEASE = name;
        const isFree =
          processedInput.options.unreleased || /^dev/.test(framework.getProvider('aws').getStage());
        if (problem && command !== 'package' && !isFree)
          throw new classes.Error(
            `${problem} Check out a release, such as git checkout v${release.before ?? release.name}, or add --unreleased.`,
          );
      },
      'after:aws:package:finalize:mergeCustomProviderResources': async () => {
        const Value = service.provider.environment.RELEASE;
        const Description = 'The release, with its commit if it is not a tagged one';
        service.provider.compiledCloudFormationTemplate.Outputs.Release = { Description, Value };
      },
    };
  }
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
