import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkArchive } from 'registry-rules/archives/check-archive';
import { rejectGitFolders, findGitFolders } from 'registry-rules/archives/git-folders';
import { inMemory } from '../../support/archive-files.ts';
import { git } from 'testing/shell';
import { zip } from 'testing/zip';

describe('rejectGitFolders', () => {
  test.each<[string, string[], string]>([
    ['at the top', ['HEAD', 'objects/keep', 'refs/keep', 'config'], 'git takes its top folder for a'],
    ['in a folder', ['a/b/HEAD', 'a/b/objects/x', 'a/b/refs/x'], 'the folder "a/b" for a repository'],
    ['of empty folders', ['bare/HEAD', 'bare/objects/', 'bare/refs/'], 'the folder "bare"'],
    ['of files, which Windows takes for enterable', ['x/HEAD', 'x/objects', 'x/refs'], 'the folder "x"'],
    ['where case is ignored', ['x/head', 'x/Objects/a', 'x/REFS/a'], 'the folder "x"'],
    ['where case beyond ASCII is ignored', ['x/HEAD', 'x/object\u017f/a', 'x/refs/a'], 'the folder "x"'],
    ['where signs without ink are ignored', ['x/HE\uFE0FAD', 'x/objects/a', 'x/refs/a'], 'the folder "x"'],
    ['that names the rest of itself', ['x/HEAD', 'x/commondir', 'y/objects/a', 'y/refs/a'], 'the folder "x"'],
    [
      'below its own objects',
      ['objects/refs/HEAD', 'objects/refs/objects/refs', 'objects/refs/refs/a'],
      'refs"',
    ],
    ['in a folder that grows when it is folded', ['ßß/HEAD', 'ßß/objects/', 'ßß/refs/'], 'the folder "ßß"'],
  ])('rejects a repository %s', (_, names, sentence) => {
    expect(() => rejectGitFolders(['node.py', ...names])).toThrow(sentence);
    expect(() => rejectGitFolders(names.toReversed())).toThrow(sentence);
  });

  test.each([
    [['HEAD', 'node.py']],
    [['objects/a.py', 'refs/b.py', 'node.py']],
    [['HEAD', 'objects/a.py']],
    [['HEAD', 'refs/a.py']],
    [['HEAD', 'a/objects/x', 'a/refs/x']],
    [['a/HEAD', 'b/objects/x', 'b/refs/x']],
    [['commondir', 'objects/x', 'refs/x']],
    [['a/HEAD.py', 'a/my-objects/x', 'a/refs.json', 'a/objects/x']],
  ])('accepts the names of an ordinary pack: %j', (names) => {
    expect(() => rejectGitFolders(names)).not.toThrow();
  });

  test('finds every repository, for a publisher who can still leave them out', () => {
    const names = ['', 'a/', 'a/b/'].flatMap((folder) => [`${folder}HEAD`, `${folder}commondir`]);

    expect([...findGitFolders(names)].map(({ folder }) => folder)).toEqual(['.', 'a', 'a/b']);
  });
});

describe('git itself', () => {
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'node-registry-git-folders-'));
  });

  afterAll(() => rm(directory, { recursive: true }));

  /** Whether `git status`, as anyone types it in the folder, runs what the folder configures. */
  async function runsIn(folder: string, marker: string): Promise<boolean> {
    const env = { PATH: process.env.PATH, HOME: directory, GIT_CONFIG_NOSYSTEM: '1' };
    await new Promise((resolve) => {
      spawn('git', ['status'], { cwd: folder, env, stdio: 'ignore' }).once('exit', resolve);
    });
    return existsSync(marker);
  }

  test.each<[string, string[], (folder: string) => Promise<unknown>]>([
    ['a bare repository', ['HEAD', 'config', 'objects/keep', 'refs/keep'], async () => {}],
    [
      'a folder that names the rest of the repository',
      ['HEAD', 'commondir', 'config.worktree', 'rest/config', 'rest/objects/keep', 'rest/refs/keep'],
      async (folder) => {
        await mkdir(join(folder, 'rest'));
        for (const name of ['config', 'objects', 'refs']) {
          await rename(join(folder, name), join(folder, 'rest', name));
        }
        await writeFile(join(folder, 'commondir'), 'rest\n');
        await writeFile(join(folder, 'config.worktree'), '[core]\n  worktree = .\n  bare = false\n');
        await appendFile(join(folder, 'rest/config'), '[extensions]\n  worktreeConfig = true\n');
      },
    ],
  ])('runs the command of %s, which is rejected', async (_, names, change) => {
    const folder = await mkdtemp(join(directory, 'unpacked-'));
    const marker = join(directory, `ran-in-${names.length}`);
    await git(folder, 'init', '--quiet', '--bare', '.');
    for (const name of ['branches', 'description', 'hooks', 'info'])
      await rm(join(folder, name), { recursive: true, force: true });
    await writeFile(join(folder, 'config'), '[core]\n  repositoryformatversion = 1\n  bare = false\n');
    await appendFile(join(folder, 'config'), `  worktree = .\n  fsmonitor = "touch ${marker}; false"\n`);
    await change(folder);
    const archive = zip([{ name: 'node.py', data: 'x' }, ...names.map((name) => ({ name, data: 'x' }))]);

    expect(await runsIn(folder, marker)).toBe(true);
    await expect(checkArchive(inMemory(archive))).rejects.toThrow(
      'git takes its top folder for a repository',
    );
  });
});
