import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, cp, mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { directory, folder as place } from '@node-registry/testing/folders';
import { emptyFiles, type Files, git, runFile, writeFiles } from '@node-registry/testing/shell';
import { chooseFiles } from '../files/pack.ts';
import { initCommand } from '../init-command.ts';
import { readPyProject } from '../pyproject.ts';

/*
 * Repositories whose author wants to run a command, or to read a file, on the machine that publishes them. Each is made
 * as its author would make it.
 */

let outside: string;
const environment = { ...process.env };

beforeAll(() => cloneInto(join(directory, 'plain'), {}, async () => {}));

beforeEach(async () => {
  outside = join(place, 'outside');
  await writeFiles(place, {
    'outside/secret.txt': 'of the machine',
    'outside/deep/secret.txt': 'of the machine',
  });
});

afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
});

const nowhere = { metadata: { publisher: 'demo' }, baseUrl: 'http://localhost' };

type Prepare = (origin: string) => Promise<unknown>;

/** A commit of these files, and a clone of it. One without anything of its own is copied, which starts no git. */
async function cloned(files: Files = {}, prepare?: Prepare): Promise<string> {
  if (prepare || Object.keys(files).length > 0) await cloneInto(place, files, prepare);
  else await cp(join(directory, 'plain'), place, { recursive: true });
  return join(place, 'clone');
}

async function cloneInto(parent: string, files: Files, prepare: Prepare = async () => {}): Promise<void> {
  const origin = join(parent, 'origin');
  await writeFiles(origin, { 'node.py': 'x\n', ...files });
  await git(origin, 'init', '--quiet', '--template=');
  await prepare(origin);
  await git(origin, 'add', '--all', '--force');
  await git(origin, 'commit', '--quiet', '-m', 'A pack');
  await git(parent, 'clone', '--quiet', '--template=', '-c', 'core.symlinks=true', origin, 'clone');
  await mkdir(join(parent, 'clone/.git/info'), { recursive: true });
}

async function chosen(folder: string, includes: readonly string[] = []) {
  return chooseFiles(folder, { includes }).then(
    ({ files }) => files.map(({ path }) => path),
    (error: Error & { problems?: readonly { path: string; message: string }[] }) =>
      [error.message, ...(error.problems ?? []).map(({ path, message }) => `${path} ${message}`)].join('\n'),
  );
}

/** A folder that git takes for a repository when it stands in it. */
const bareRepository: Files = {
  'pack/HEAD': 'ref: refs/heads/main\n',
  'pack/config': '[core]\n  fsmonitor = ./attack.sh\n',
  ...emptyFiles('pack/objects/keep pack/refs/keep'),
};

const missing = '1234567890123456789012345678901234567890';

describe('a hostile repository', () => {
  const source = join(import.meta.dirname, '..');

  test('cannot start a program, because the command starts none', async () => {
    const names = await readdir(source, { recursive: true });
    const sources = names.filter((name) => /^(?!tests|node_modules|dist).*\.ts$/.test(name));
    const starting = [];
    for (const name of sources) {
      const text = await readFile(join(source, name), 'utf8');
      if (/child_process|worker_threads|node:cluster|node:vm/.test(text)) starting.push(name);
    }

    expect(sources).toContain(join('files', 'git-index.ts'));
    expect(starting).toEqual([]);
  });

  const setting = (clone: string, key: string, value: string) => git(clone, 'config', key, value);
  const taken = 'git takes the folder "pack" for a repository';
  const own = 'its own settings name a core.excludesFile';

  test.each<[string, (clone: string) => Promise<unknown>, string]>([
    ['a committed bare repository', (clone) => writeFiles(clone, bareRepository), taken],
    [
      'a .git file that names a committed folder',
      async (clone) => {
        await rm(join(clone, '.git'), { recursive: true });
        await writeFiles(clone, { '.git': 'gitdir: pack\n', ...bareRepository });
      },
      taken,
    ],
    ['a work tree elsewhere', (clone) => setting(clone, 'core.worktree', outside), 'node.py'],
    ['a list of excludes outside', (clone) => setting(clone, 'core.excludesFile', join(outside, 'x')), own],
    [
      'a submodule behind a link that leads out',
      async (clone) => {
        await git(outside, 'init', '--quiet');
        await symlink('..', join(clone, 'link'));
        await git(clone, 'update-index', '--add', '--cacheinfo', `160000,${missing},link/outside`);
      },
      'link/outside is empty.',
    ],
  ])('reveals nothing by %s', async (_, prepare, expected) => {
    const clone = await cloned();
    await prepare(clone);

    expect(String(await chosen(clone))).toContain(expected);
  });
});

const pipe = (path: string) => runFile('mkfifo', [path]);

describe('a file outside of the folder', () => {
  const unpublished = 'a link to something that is not published';

  test.each<[string, Record<string, string>, string[], string]>([
    ['behind a linked folder', { link: '../outside' }, ['link/secret.txt'], `secret.txt is ${unpublished}`],
    ['in a folder behind one', { link: '../outside' }, ['link/deep'], '"link/deep" leads out of the folder'],
    ['by a tracked link', { 'a.txt': '../outside/secret.txt' }, [], `a.txt is ${unpublished}`],
    ['by a link to itself', { a: 'a' }, [], 'node.py'],
    ['by a pattern', { 'b.txt': '/etc/passwd' }, ['*.txt'], `b.txt is ${unpublished}`],
  ])('leaves out a file %s', async (_, links, includes, sentence) => {
    const clone = await cloned({}, async (origin) => {
      for (const [path, target] of Object.entries(links)) {
        await mkdir(join(origin, path, '..'), { recursive: true });
        await symlink(target, join(origin, path));
      }
    });

    expect(await chosen(clone, includes)).toContain(sentence);
  });

  test.each(['.git/config', '.git', '.git/', '.git/*', 'sub/.git/config'])(
    'does not publish a file from the folder of git by includes %j',
    async (entry) => {
      const clone = await cloned();
      await writeFiles(clone, { 'sub/.git/config': 'x' });

      expect(await chosen(clone, [entry])).toMatch(/belongs to git|names no file/);
    },
  );

  test.each(['.publishignore', '.gitignore'])('does not read a file outside as a linked %s', async (name) => {
    const folder = join(place, 'plain');
    await writeFiles(folder, { 'node.py': '' });
    await symlink('/dev/zero', join(folder, name));

    expect(await chosen(folder)).toMatch(/is not a file of the folder|is a link to something/);
  });

  test.each<[string, (path: string) => Promise<unknown>]>([
    ['linked', (path) => symlink('/proc/self/environ', path)],
    ['piped', pipe],
  ])('does not read a %s pyproject.toml', async (_, make) => {
    const clone = await cloned();
    await make(join(clone, 'pyproject.toml'));
    const { failures } = await readPyProject(clone);

    const sentence = 'The pyproject.toml is not a file of the folder of at most 1 MB.';
    expect(failures.map(({ message }) => message)).toEqual([sentence]);
  });

  test.each(['secret.txt', 'new.toml'])('does not write a file outside by init: %s', async (name) => {
    const clone = await cloned({}, (origin) => symlink(`../outside/${name}`, join(origin, 'pyproject.toml')));

    await expect(initCommand(clone, nowhere)).rejects.toThrow('is not a plain file');
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe('of the machine');
    expect(existsSync(join(outside, 'new.toml'))).toBe(false);
  });

  test('does not copy a file outside from a linked requirements.txt by init', async () => {
    const clone = await cloned({}, (origin) =>
      symlink('../outside/secret.txt', join(origin, 'requirements.txt')),
    );
    await initCommand(clone, nowhere);

    expect(await readFile(join(clone, 'pyproject.toml'), 'utf8')).not.toContain('of the machine');
  });
});

describe('a file of the repository', () => {
  test.each([
    ...['.git', '.git/HEAD', '.git/config', '.git/index', '.git/info/exclude', '.git/commondir'],
    ...['.gitignore', '../settings', '../list', 'data.bin', '.publishignore'],
  ])('does not hold up the command as a pipe: %s', async (name) => {
    const clone = await cloned();
    await rm(join(clone, name), { recursive: true, force: true });
    if (name.startsWith('..')) process.env.GIT_CONFIG_GLOBAL = join(place, 'settings');
    if (name === '../list')
      await writeFile(join(place, 'settings'), `[core]\n  excludesFile = ${place}/list\n`);
    await pipe(join(clone, name));

    expect(await chosen(clone)).toMatch(/is not a file|is not valid|neither a file nor a folder/);
    await initCommand(clone, nowhere);
  });

  test.each(['.git/index', '.git/config', '.git/info/exclude', '.git/commondir', '.gitignore'])(
    'is not read whole with 3 GB: %s',
    async (name) => {
      const clone = await cloned();
      await appendFile(join(clone, name), '');
      await truncate(join(clone, name), 3_000_000_000);

      expect(await chosen(clone)).toMatch(/has over \d+ MB|is not a file of the folder that can be read/);
    },
  );

  test.each<[string, (index: Buffer) => Buffer, RegExp]>([
    ['one byte changed', (index) => changed(index, 20, 1), /checksum/],
    ['a merge conflict', (index) => resealed(changed(index, 72, 0x10)), /^node.py has a merge conflict/],
    ['another version', (index) => resealed(changed(index, 7, 5)), /unknown format/],
    ['more entries than it has', (index) => resealed(changed(index, 11, 9)), /cut off/],
    ['nothing but a header', (index) => resealed(index.subarray(0, 32)), /cut off/],
    ['an unknown extension that is required', (index) => resealed(extended(index, 'newx')), /newer git/],
    ['a path that leads out', (index) => resealed(named(index, '../a.py')), /leads out of the folder/],
    [
      'a part in another file',
      (index) => resealed(extended(index, 'link', '1'.repeat(20))),
      /is split\. Join/,
    ],
  ])('is rejected as an index with %s', async (_, change, sentence) => {
    const clone = await cloned();
    const path = join(clone, '.git/index');
    await writeFile(path, change(await readFile(path)));

    expect(await chosen(clone)).toMatch(sentence);
  });

  test('is rejected as an index of version 4 whose small entries make long names', async () => {
    const clone = await cloned();
    const entry = (suffix: string) => Buffer.concat([Buffer.alloc(62), Buffer.from(`\0${suffix}\0`)]);
    const entries = Array.from({ length: 40_000 }, (_, at) => entry(at === 0 ? 'a'.repeat(4000) : 'a'));
    const header = Buffer.from('DIRC\0\0\0\x04\0\0\x9c\x40', 'latin1');
    const index = Buffer.concat([header, ...entries, Buffer.alloc(20)]);
    await writeFile(join(clone, '.git/index'), resealed(index));

    expect(await chosen(clone)).toMatch(/a name that is too long/);
  });

  test.each<[string, (clone: string) => Promise<unknown>, string]>([
    [
      'patterns',
      (clone) => writeFile(join(clone, '.gitignore'), '*/a*b/**/c\n'.repeat(80_000)),
      'The ignore files have too many patterns for so many files.',
    ],
    [
      'steps',
      (clone) =>
        writeFiles(clone, {
          '.gitignore': `**/${'a/'.repeat(100)}b\n`.repeat(300),
          ...emptyFiles(Array.from({ length: 30 }, (_, at) => `${'a/'.repeat(200)}${at}`).join(' ')),
        }),
      'The folder has too many or too deep files for its ignore files.',
    ],
    [
      'bytes',
      async (clone) => {
        for (const at of [1, 2, 3, 4, 5])
          await writeFiles(clone, { [`${at}/.gitignore`]: '?'.repeat(900_000) });
      },
      'The ignore files are too long.',
    ],
    [
      'bytes of attributes',
      (clone) => writeFile(join(clone, '.gitattributes'), '#\n'.repeat(600_000)),
      '.gitattributes is not a file of the folder that can be read.',
    ],
  ])('is rejected as an ignore file with too many %s', async (_, prepare, sentence) => {
    const clone = await cloned();
    await prepare(clone);

    expect(await chosen(clone)).toBe(sentence);
  });

  test('is rejected as an includes list that would be compared for hours', async () => {
    const includes = Array.from({ length: 300 }, (_, at) => `*${at}`);

    expect(await chosen(await cloned(), includes)).toContain('has over 200 entries');
  });

  test('gives init the address that it is pushed to, and none from outside of it', async () => {
    const clone = await cloned();
    await writeFiles(outside, { settings: '[remote "origin"]\n  url = https://example.com/secret\n' });
    await git(clone, 'config', 'remote.origin.url', 'git@example.com:me/pack.git');
    await appendFile(join(clone, '.git/config'), `[include]\n  path = ${join(outside, 'settings')}\n`);
    await initCommand(clone, nowhere);

    expect(await readFile(join(clone, 'pyproject.toml'), 'utf8')).toContain('"https://example.com/me/pack"');
  });
});

function changed(index: Buffer, at: number, byte: number): Buffer {
  const copy = Buffer.from(index);
  copy[at] = byte;
  return copy;
}

/** With a checksum as git computes it. */
function resealed(index: Buffer): Buffer {
  const content = index.subarray(0, -20);
  return Buffer.concat([content, createHash('sha1').update(content).digest()]);
}

function extended(index: Buffer, signature: string, content = ''): Buffer {
  const length = String.fromCharCode(content.length);
  const extension = Buffer.from(`${signature}\0\0\0${length}${content}`, 'latin1');
  return Buffer.concat([index.subarray(0, -20), extension, index.subarray(-20)]);
}

/** Another name of the same length in place of node.py. */
function named(index: Buffer, name: string): Buffer {
  return Buffer.from(index.toString('latin1').replace('node.py', name), 'latin1');
}
