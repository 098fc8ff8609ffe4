import { existsSync } from 'node:fs';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { directory, enter, folder } from '@node-registry/testing/folders';
import { fc } from '@node-registry/testing/properties';
import { check } from '@node-registry/testing/property-runs';
import { dryRun, publishNode, spawnPublishNode } from '@node-registry/testing/publish-node';
import { emptyFiles, git, writeFiles } from '@node-registry/testing/shell';
import { unzip } from '@node-registry/testing/unzip';
import { listFiles } from '../files/list-files.ts';
import { chooseFiles, pack } from '../files/pack.ts';

const packed = async (choice: Parameters<typeof chooseFiles>[1] = {}) =>
  pack(await chooseFiles(folder, choice));
const names = async (choice = {}) => [...(await unzip((await packed(choice)).archive)).keys()];

/** The files that git itself ships: a copy of the folder, added, and read back out of git. */
async function shippedByGit(): Promise<Map<string, Buffer>> {
  const copy = await mkdtemp(join(directory, 'copy-'));
  await cp(folder, copy, { recursive: true, verbatimSymlinks: true });
  await git(copy, 'add', '--all');
  const shipped = await mkdtemp(join(directory, 'shipped-'));
  await git(copy, 'checkout-index', '--all', `--prefix=${shipped}/`);
  const listed = (await git(copy, 'ls-files', '-z')).split('\0').filter((name) => name !== '');
  const read = listed.sort().map(async (path) => [path, await readFile(join(shipped, path))] as const);
  return new Map(await Promise.all(read));
}

async function expectWhatGitShips(): Promise<void> {
  const shipped = await shippedByGit();
  const choice = { allow: shipped.has('.env') ? ['.env'] : [] };
  const { archive, sha256 } = await packed(choice);
  const unpacked = await unzip(archive);

  expect([...unpacked.keys()]).toEqual([...shipped.keys()]);
  for (const [path, content] of shipped) expect(unpacked.get(path)?.equals(content)).toBe(true);
  expect((await packed(choice)).sha256).toBe(sha256);
}

describe('the archive of a git folder', () => {
  beforeEach(() => git(folder, 'init', '--quiet'));

  test('equals git for a pack with tracked files that it ignores, a link and an allowed .env', async () => {
    await writeFiles(folder, { 'LICENSE.txt': 'MIT\n', 'node.py': '', '.env': 'A=1' });
    await symlink('LICENSE.txt', join(folder, 'COPYING'));
    await git(folder, 'add', '--all');
    await writeFiles(folder, { '.gitignore': '__pycache__\n*.txt\n', 'notes.txt': 'mine', 'new.py': '' });

    await expectWhatGitShips();
    expect(await names({ allow: ['.env'] })).not.toContain('notes.txt');
  });

  test('equals git for generated packs', async () => {
    const segment = fc.constantFrom('a', 'b', 'größe', '節點', 'c d', 'x.txt', 'y.log', 'build');
    const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => `${parts.join('/')}/f.py`);
    const rules = ['*.txt', 'build/', '/a', '!b', 'a/*', '!a/b/', '**/y.log', 'größe', '*.py', '!f.py'];
    const rule = fc.constantFrom(...rules);
    const pack_ = fc.record({
      files: fc.uniqueArray(path, { minLength: 1, maxLength: 12 }),
      rules: fc.dictionary(fc.constantFrom('', 'a/', 'b/build/'), fc.array(rule, { maxLength: 4 })),
      tracked: fc.array(fc.nat(11), { maxLength: 4 }),
    });
    await check(pack_, async ({ files, rules, tracked }) => {
      await enter();
      await git(folder, 'init', '--quiet');
      await writeFiles(folder, { 'always.md': '' });
      await writeFiles(folder, Object.fromEntries(files.map((name, index) => [name, String(index)])));
      for (const [place, lines] of Object.entries(rules))
        await writeFiles(folder, { [`${place}.gitignore`]: lines.join('\n') });
      const added = tracked.flatMap((index) => files[index] ?? []);
      await git(folder, 'add', '--force', '--', 'always.md', ...added);
      await expectWhatGitShips();
    });
  });

  test('equals git for one folder of a repository, and its submodules', async () => {
    const library = await mkdtemp(join(directory, 'library-'));
    await git(library, 'init', '--quiet');
    await writeFiles(library, { 'lib.py': 'x', 'gone.py': '', '.gitignore': '*.pyc\n' });
    await git(library, 'add', '--all');
    await git(library, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},deep`);
    await git(library, 'commit', '--quiet', '-m', 'Library');
    await writeFiles(folder, { '.gitignore': '*.tmp\n', ...emptyFiles('pack/node.py pack/x.tmp other.py') });
    const submodule = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add'];
    await git(folder, ...submodule, library, 'pack/vendor');
    await writeFiles(folder, { 'pack/vendor/lib.pyc': 'ignored by the submodule' });
    await rm(join(folder, 'pack/vendor/gone.py'));
    await enter(join(folder, 'pack'));

    await expect(packed()).rejects.toMatchObject({ problems: [{ path: 'vendor/deep' }] });
    await writeFiles(folder, { '.publishignore': 'vendor/deep/\n.publishignore\n' });
    expect(await names()).toEqual(['node.py', 'vendor/.gitignore', 'vendor/lib.py']);
    expect((await packed()).notes).toEqual([
      'vendor/gone.py is left out: it is in git, but not in the folder.',
      '1 file is left out by ".publishignore" in .publishignore: .publishignore.',
      '1 file is left out by "*.pyc" in .gitignore: vendor/lib.pyc.',
      '1 file is left out by "*.tmp" in .gitignore: x.tmp.',
    ]);
  });

  test('names the files that it leaves out: deleted files, and inner repositories that are not submodules', async () => {
    await writeFiles(folder, { 'node.py': '', 'gone.py': '', 'inner/x.py': '' });
    await git(folder, 'add', 'node.py', 'gone.py');
    await rm(join(folder, 'gone.py'));
    await git(join(folder, 'inner'), 'init', '--quiet');
    const { files, notes } = await packed();

    expect(files.map(({ path }) => path)).toEqual(['node.py']);
    expect(notes.sort()).toEqual([
      'gone.py is left out: it is in git, but not in the folder.',
      'inner/ is left out: it is another git repository, and not a submodule of this one.',
    ]);
  });

  test('prints a hundred notes, and counts the others', async () => {
    const names = Array.from({ length: 120 }, (_, at) => `gone/${at}.py`);
    await writeFiles(folder, emptyFiles(`node.py ${names.join(' ')}`));
    await git(folder, 'add', '--all');
    await rm(join(folder, 'gone'), { recursive: true });
    const { stderr } = await publishNode(dryRun(folder));

    expect(stderr.match(/is left out/g)).toHaveLength(100);
    expect(stderr).toContain('\nand 20 more notes.\n');
    expect((await packed()).notes).toHaveLength(120);
  });

  test.each<[string, string[], string[]?]>([
    ['of version 2', ['update-index --index-version 2']],
    ['of version 3, with an intended file', ['add --intent-to-add new.py']],
    ['of version 4', ['update-index --index-version 4']],
    ['that was split', ['update-index --split-index', 'update-index --no-split-index']],
    ['that is sparse', ['sparse-checkout set --cone --sparse-index pack']],
    ['without a checksum', []],
    ['of SHA-256', [], ['--object-format=sha256']],
    ['of another work tree', ['worktree add --quiet ../other-tree']],
  ])('equals git for an index %s', async (kind, commands, options = []) => {
    await rm(join(folder, '.git'), { recursive: true });
    await git(folder, 'init', '--quiet', ...options);
    const numbered = Array.from({ length: 130 }, (_, at) => `pack/${String(at).padStart(2, '0')}.py`);
    await writeFiles(folder, {
      ...emptyFiles(`other/a.py pack/changed.py ${numbered.join(' ')}`),
      '.gitignore': 'x*',
    });
    await git(folder, 'add', '--all');
    await git(folder, 'commit', '--quiet', '-m', 'A pack');
    await writeFiles(folder, { 'new.py': '', 'x.py': '', 'pack/changed.py': 'changed' });
    for (const command of commands) await git(folder, ...command.split(' '));
    const index = join(folder, '.git/index');
    if (kind === 'without a checksum')
      await writeFile(index, Buffer.concat([(await readFile(index)).subarray(0, -20), Buffer.alloc(20)]));
    if (kind.includes('work tree')) await enter(join(folder, '../other-tree'));
    const flags = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const listed = (await git(folder, ...flags)).split('\0').filter((path) => path !== '');
    const objects = await git(folder, 'ls-files', '-z', '--stage');
    const { paths, objects: found } = await listFiles(folder);

    expect(paths).toEqual(listed.filter((path) => existsSync(join(folder, path))).sort());
    for (const [path, object] of found ?? []) expect(objects).toContain(`${object} 0\t${path}\0`);
  });

  test.each([
    ['.config/git/ignore', '*.log\n', ''],
    ['.gitconfig', '[core]\n\texcludesFile = "~/my list" ; of mine\n', 'my list'],
    ['.gitconfig', '[include]\npath = more\n', 'more'],
    ['.gitconfig', '[includeIf "gitdir:FOLDER/"]\npath = more\n', 'more'],
  ])('leaves out what a person ignores everywhere, by %s with %j', async (file, text, named) => {
    const home = await mkdtemp(join(directory, 'home-'));
    const list = named === 'more' ? '[core]\nexcludesfile = ~/list\n' : '*.log\n';
    await writeFiles(home, {
      [file]: text.replace('FOLDER', folder),
      [named || 'unused']: list,
      list: '*.log\n',
    });
    await writeFiles(folder, emptyFiles('node.py my.log deep/b.log'));
    const env = { HOME: home, XDG_CONFIG_HOME: '' };

    expect((await publishNode(dryRun(folder), { env })).stdout).toContain('files      1, chosen by git');
  });

  test('takes an empty core.excludesFile for none', async () => {
    const home = await mkdtemp(join(directory, 'home-'));
    await writeFiles(home, { '.gitconfig': '[core]\nexcludesFile =\n', '.config/git/ignore': '*' });
    await writeFiles(folder, emptyFiles('node.py my.log'));
    const env = { HOME: home, XDG_CONFIG_HOME: '' };

    expect((await publishNode(dryRun(folder), { env })).stdout).toContain('files      2, chosen by git');
  });

  test('notes that a file which the settings of the repository include is not read', async () => {
    await writeFiles(folder, { 'node.py': '', '.git/more': '[core]\nexcludesFile = x\n' });
    await git(folder, 'config', 'includeIf.gitdir:/**.path', 'more');
    const note =
      "The repository's own settings include more, which is not read: what it ignores is published.";

    expect((await packed()).notes).toEqual([note]);
    await git(folder, 'add', '--all');
    expect((await packed()).notes).toEqual([]);
  });

  test('names a folder whose name is not UTF-8', async () => {
    const bad = Buffer.concat([Buffer.from(`${folder}/n`), Buffer.from([0xff])]);
    await mkdir(bad);

    await expect(packed()).rejects.toThrow('The registry would reject these paths.');
  });

  test('rejects new files next to an ignore file that is not checked out', async () => {
    await writeFiles(folder, { 'node.py': '', 'deep/.gitignore': '.env\n' });
    await git(folder, 'add', '--all');
    await git(folder, 'update-index', '--skip-worktree', 'deep/.gitignore');
    await rm(join(folder, 'deep/.gitignore'));
    await writeFiles(folder, { 'deep/.env': 'secret' });

    await expect(packed({ allow: ['deep/.env'] })).rejects.toThrow('deep/.gitignore is not checked out');
  });
});

test('the archive of a folder without git leaves out what tools leave behind, unless includes bring it back', async () => {
  await writeFiles(folder, {
    ...emptyFiles(
      'node.py web/.git/config .DS_Store web/Thumbs.db a/__pycache__/x.py b.pyc .venv/bin/python',
    ),
    ...emptyFiles('venv/x web/node_modules/m.js .mypy_cache/x .pytest_cache/x .ruff_cache/x .tox/x .idea/x'),
    ...emptyFiles('.vscode/kept.json .hg/hgrc a/.svn/wc.db'),
  });

  expect(await names()).toEqual(['node.py']);
  expect(await names({ includes: ['web/node_modules'] })).toEqual(['node.py', 'web/node_modules/m.js']);
});

describe('a file that a rule leaves out', () => {
  const rules = { '.gitignore': 'models/\n*.log\n', 'web/.gitignore': '/dist\n' };
  const files = 'nodes/models/a.py nodes/models/deep/b.py c.log web/dist/d.js e.psd nodes/__pycache__/f.pyc';

  test.each(['git', 'no git'])('is counted and named, with its rule, with %s', async (by) => {
    await writeFiles(folder, { ...rules, ...emptyFiles(`node.py nodes/x.py ${files}`) });
    await writeFiles(folder, { '.publishignore': '*.psd\n', '.comfyignore': 'nodes/x.py' });
    if (by === 'git') await git(folder, 'init', '--quiet');
    const { stdout, stderr } = await publishNode([...dryRun(folder), '--include', 'web/dist']);
    const { notes } = await packed({ includes: ['web/dist'] });

    expect(notes).toEqual([
      '1 file is left out by "*.log" in .gitignore: c.log.',
      '1 file is left out by "*.psd" in .publishignore: e.psd.',
      '1 file is left out as a leftover of tools: nodes/__pycache__/ (1).',
      '2 files are left out by "models/" in .gitignore: nodes/models/ (2).',
      '1 file is left out by "nodes/x.py" in .comfyignore: nodes/x.py.',
    ]);
    expect(stdout).toContain(`left out   ${notes.length + 1} files, by rules`);
    for (const note of notes) expect(stderr).toContain(note);
  });

  test('is also a leftover that git tracks', async () => {
    await git(folder, 'init', '--quiet');
    await writeFiles(
      folder,
      emptyFiles('node.py .DS_Store web/node_modules/a.js x/__pycache__/y.py kept.pyc'),
    );
    await git(folder, 'add', '--all');

    expect((await packed()).notes).toEqual([
      '3 files are left out as a leftover of tools: .DS_Store, web/node_modules/ (1), x/__pycache__/ (1).',
    ]);
    const includes = ['web/node_modules', 'x/__pycache__/y.py'];
    expect(await names({ includes })).toEqual(['kept.pyc', 'node.py', 'web/node_modules/a.js', includes[1]]);
  });

  test.each([
    ['from .models import b', 'nodes/models'],
    ['from . import (a,  # first\n  models as m)', 'nodes/models'],
    ['if True:\n    from .models.deep.b import X', 'nodes/models/deep/b'],
    ['import sys; sys.path.append(here)\nimport nodes.models.a', 'nodes/models/a'],
    ['def late():\n    from ..nodes.models \\\n        import a', 'nodes/models'],
    ['from .part import X', 'nodes/part'],
  ])('stops the publish if a packed file says %j, unless that is allowed', async (code, module) => {
    await writeFiles(folder, {
      'nodes/.gitignore': '/part/__init__.py',
      ...emptyFiles('nodes/part/__init__.py nodes/part/y.py'),
    });
    await writeFiles(folder, { ...rules, ...emptyFiles(files), 'nodes/x.py': `"""Nodes"""\n${code}\n` });

    await expect(packed()).rejects.toMatchObject({
      problems: [{ path: 'nodes/x.py', message: expect.stringContaining(`imports ${module} (line `) }],
    });
    expect(await names({ allow: ['nodes/x.py'] })).toContain('nodes/x.py');
    const includes = ['nodes/models', 'nodes/part'];
    expect(await names({ includes })).toContain('nodes/models/deep/b.py');
  });

  test.each([
    'try:\n    from .models import b\nexcept ImportError:\n    b = None',
    'from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .models import b',
    '"""\nfrom .models import b\n"""\n# from .models import b',
    'import models, nodes.models',
    'from .model import b\nfrom ..models import a',
  ])('does not stop a publish with a packed file that says %j', async (code) => {
    await writeFiles(folder, { ...rules, ...emptyFiles(files), 'nodes/x.py': code });

    expect(await names()).toContain('nodes/x.py');
  });
});

describe('the publisher of a pack', () => {
  test('leaves out more files with .publishignore', async () => {
    await git(folder, 'init', '--quiet');
    await writeFiles(folder, {
      '.gitignore': '/.publishignore\n',
      '.publishignore': '/tests/\n*.psd\n.*ignore\n',
      'art/.publishignore': '!logo.psd\n',
      ...emptyFiles('tests/a.py art/logo.psd art/draft.psd node.py'),
    });
    await git(folder, 'add', '--all');

    expect(await names()).toEqual(['art/logo.psd', 'node.py']);
  });

  test.each([
    [['web/dist'], ['web/dist/a.js', 'web/dist/b/c.js']],
    [['/web/dist/'], ['web/dist/a.js', 'web/dist/b/c.js']],
    [['./web/dist/a.js'], ['web/dist/a.js']],
    [['web/**/c.js'], ['web/dist/b/c.js']],
  ])('includes ignored files with includes %j', async (includes, expected) => {
    await git(folder, 'init', '--quiet');
    await writeFiles(folder, { '.gitignore': 'dist/\n', 'web/dist/a.js': '', 'web/dist/b/c.js': '' });

    expect(await names({ includes })).toEqual(['.gitignore', ...expected]);
  });

  test.each(['hidden.txt', 'sub'])(
    'gets an error for a link to %s, which is not published',
    async (target) => {
      await writeFiles(folder, { '.gitignore': 'hidden.txt\n', 'hidden.txt': 'secret', 'sub/a.py': '' });
      await symlink(target, join(folder, 'link'));

      await expect(packed()).rejects.toMatchObject({ problems: [{ path: 'link' }] });
    },
  );
});

test('writes the bytes that every earlier version wrote, in any time zone, and keeps no file open', async () => {
  await writeFiles(folder, { 'node.py': 'print(1)\n'.repeat(100), 'größe/run.sh': '#!/bin/sh\n' });
  await chmod(join(folder, 'größe/run.sh'), 0o755);
  const sha256 = '59928a8a73c1e76d5e583f3cfd37e2461e78b2e50d4e3ec7f373f56884f6ff2d';
  // The zone of a process is that of its start.
  const { stdout } = await spawnPublishNode([...dryRun(folder), '--json'], { env: { TZ: 'Asia/Tokyo' } });
  expect(JSON.parse(stdout)).toMatchObject({ sha256 });
  const before = await openFiles();
  expect(await packed()).toMatchObject({ sha256 });
  expect(await openFiles()).toEqual(before);
});

/** The files of the folder that this process has open, where the system says so. */
async function openFiles(): Promise<string[]> {
  const links = await readdir('/proc/self/fd').catch(() => []);
  const paths = await Promise.all(links.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return paths.filter((path) => path.startsWith(folder));
}
