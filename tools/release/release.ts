// npm run release
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import semver from 'semver';
import { createCommand, runProgram } from '@node-registry/command-line/command';
import { buildFunctions } from '../../infra/bundle/build.ts';
import { release } from '../../infra/release.ts';

const execute = promisify(execFile);
const changeLog = 'docs/CHANGELOG.md';

/** The inputs for cutting a release. */
export interface Cut {
  current: string;
  next: string;
  /** The uncommitted changes, as git prints them. */
  unclean: string;
  /** The tree of the commit, and the one that last passed the gate. */
  tree: string;
  passed: string;
  changeLog: string;
}

/** Why no release can be cut. */
export function cutProblems({ current, next, unclean, tree, passed, changeLog }: Cut): string[] {
  const isRelease = /^\d+\.\d+\.\d+$/.test(current);
  const successors = (['patch', 'minor', 'major'] as const).map((part) => String(semver.inc(current, part)));
  const rules: [isBroken: boolean, sentence: string][] = [
    [
      !isRelease,
      `package.json names ${current}, which is not a release: npm version MAJOR.MINOR.PATCH --no-git-tag-version --workspaces=false && npm run openapi`,
    ],
    [isRelease && !successors.includes(next), `The next version must be ${successors.join(' or ')}.`],
    [unclean !== '', `The tree has changes that are not committed:\n${unclean}`],
    [passed !== tree, 'The gate has not passed on this commit: run .ci/run first.'],
    [
      !new RegExp(`^## ${current.replaceAll('.', '\\.')}$`, 'm').test(changeLog),
      `docs/CHANGELOG.md has no heading "## ${current}". Remove "(unreleased)" from it.`,
    ],
  ];
  return rules.flatMap(([isBroken, sentence]) => (isBroken ? [sentence] : []));
}

async function run(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(command, args, { maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

async function cutOf(next: string): Promise<Cut> {
  return {
    current: release.name,
    next,
    unclean: await run('git', 'status', '--porcelain'),
    tree: await run('git', 'rev-parse', 'HEAD^{tree}'),
    // Written by .ci/run.
    passed: (await readFile('.local/gate-passed', 'utf8').catch(() => '')).trim(),
    changeLog: await readFile(changeLog, 'utf8'),
  };
}

/** Writes the release's files into a folder, and their digests into docs/releases for `sha256sum -c`. */
async function writeContents(name: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const workspace of ['publish-node', 'registry-client'])
    await run(
      'npm',
      'pack',
      '--silent',
      '--workspace',
      `packages/${workspace}`,
      '--pack-destination',
      folder,
    );
  const built = (await readdir('dist', { recursive: true })).filter((file) => /\.js(?:on)?$/.test(file));
  const others = (await readdir(folder)).map((file) => join(folder, file));
  const files = ['docs/openapi.json', ...built.map((file) => join('dist', file)), ...others].sort();
  const lines = files.map(async (file) => {
    const digest = createHash('sha256').update(await readFile(file));
    return `${digest.digest('hex')}  ${file}\n`;
  });
  await mkdir('docs/releases', { recursive: true });
  await writeFile(`docs/releases/${name}.sha256`, (await Promise.all(lines)).join(''));
}

async function nameNext(before: string, next: string): Promise<void> {
  await run('npm', 'version', next, '--no-git-tag-version', '--workspaces=false');
  await run('npm', 'pkg', 'set', `upgradesFrom=${before}`);
  await run('npm', 'run', 'openapi', '--silent');
  const text = await readFile(changeLog, 'utf8');
  await writeFile(changeLog, text.replace(/^## /m, `## ${next} (unreleased)\n\n## `));
}

async function cutRelease(next: string): Promise<void> {
  const problems = cutProblems(await cutOf(next));
  if (problems.length > 0) throw new Error(problems.join('\n'));
  await buildFunctions();
  await writeContents(release.name, join('.local/releases', release.name));
  await run('git', 'tag', '--annotate', `v${release.name}`, '--message', `Release ${release.name}`);
  await nameNext(release.name, next);
  process.stdout.write(`${release.name} is cut: its digests are in docs/releases/${release.name}.sha256, its files in
.local/releases/${release.name}. This commit has the tag v${release.name}.
Next: git add -A && git commit -m "Release: name ${next}" && git push --follow-tags\n`);
}

if (import.meta.main) {
  const command = createCommand({
    name: 'npm run release --',
    summary: 'Cuts the release that this tree is, and names the next one',
  })
    .argument('<next>', 'the next version, such as 3.1.0')
    .action(cutRelease);

  await runProgram(command);
}
