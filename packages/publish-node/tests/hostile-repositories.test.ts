import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  appendFile,
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { listFiles } from '../files/list-files.ts';
import { chooseFiles } from '../files/pack.ts';
import { runGit } from '../files/run-git.ts';
import { initCommand } from '../init-command.ts';
import { readPyProject } from '../pyproject.ts';
import { type Files, git, runFile, writeFiles } from '../../../tests/support/shell.ts';

/*
 * Repositories whose author wants to run a command, or to read a file, on the machine that publishes them. Each is made
 * as its author would make it. `fires` is a plain command of git that runs the attacker's command, so that a repository
 * that attacks nothing does not pass for one that is withstood.
 */

let directory: string;
let place: string;
let marker: string;
let script: string;
let outside: string;
const environment = { ...process.env };

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'node-registry-hostile-'));
  await cloneInto(join(directory, 'plain'), {}, async () => {});
});

beforeEach(async () => {
  place = await mkdtemp(join(directory, 'attack-'));
  marker = join(place, 'the-command-ran');
  script = join(place, 'attack.sh');
  outside = join(place, 'outside');
  await writeFiles(place, {
    'attack.sh': `#!/bin/sh\ntouch ${marker}\n`,
    'outside/secret.txt': 'of the machine',
    'outside/deep/secret.txt': 'of the machine',
  });
  await chmod(script, 0o755);
});

afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
});

afterAll(() => rm(directory, { recursive: true }));

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

const missing = '1234567890123456789012345678901234567890';

/** Lists a .gitignore that must be read and is nowhere, so that git asks the promisor remote for it. */
async function wantMissingFile(folder: string, ...where: string[]): Promise<void> {
  await git(folder, ...where, 'update-index', '--add', '--cacheinfo', `100644,${missing},.gitignore`);
  await git(folder, ...where, 'update-index', '--skip-worktree', '.gitignore');
}

const promisor = (url: string, others = '') => `
[extensions]
  partialClone = origin
[remote "origin"]
  url = ${url}
  promisor = true
  ${others}`;

/** A folder that git takes for a repository when it stands in it, with a configuration of the attacker. */
async function bareRepository(origin: string, config: string): Promise<void> {
  const pack = join(origin, 'pack');
  await git(origin, 'init', '--quiet', '--bare', 'pack');
  await writeFiles(pack, {
    config: `[core]\n  repositoryformatversion = 1\n  bare = false\n  worktree = .\n${config}`,
    'objects/keep': '',
    'refs/keep': '',
    'node.py': 'x\n',
  });
  await rm(join(pack, 'hooks'), { recursive: true });
  await wantMissingFile(pack, '--git-dir=.', '--work-tree=.');
}

const list = ['ls-files', '--cached', '--others', '--exclude-standard'];

interface Attack {
  /** The folder to publish. */
  make: () => Promise<string>;
  fires?: readonly string[];
  environment?: () => NodeJS.ProcessEnv;
  /** The files that are chosen, or a part of the sentence that refuses them. */
  expected: readonly string[] | string;
}

const isRepository = 'git takes its top folder for a repository';

/** What a committed folder can do. */
const committed = (config: () => string, fires: readonly string[] = list, more = () => ''): Attack => ({
  make: async () => {
    const clone = await cloned({}, async (origin) => {
      await bareRepository(origin, config());
      await writeFiles(origin, { 'pack/more': more() });
    });
    return join(clone, 'pack');
  },
  fires,
  expected: isRepository,
});

/** What comes with a repository that was not cloned but unpacked, with its .git folder. */
const unpacked = (
  config: () => string,
  fires: readonly string[],
  files: Files = {},
  expected: Attack['expected'] = [...Object.keys(files), 'node.py'].sort(),
): Attack => ({
  make: async () => {
    const clone = await cloned(files);
    await appendFile(join(clone, '.git/config'), config());
    await writeFiles(clone, { 'node.py': 'changed\n' });
    return clone;
  },
  fires,
  expected,
});

const wantsMissing = (config: () => string): Attack => ({
  make: async () => {
    const clone = await cloned();
    await wantMissingFile(clone);
    await writeFiles(clone, { 'new.py': '' });
    await git(clone, 'config', '--remove-section', 'remote.origin');
    await appendFile(join(clone, '.git/config'), config());
    await git(clone, 'config', 'core.repositoryFormatVersion', '1');
    return clone;
  },
  fires: list,
  expected: ['new.py', 'node.py'],
});

const withEnvironment = (given: () => NodeJS.ProcessEnv, fires?: readonly string[]): Attack => ({
  make: async () => {
    const clone = await cloned();
    await writeFiles(clone, { 'node.py': 'changed\n' });
    return clone;
  },
  environment: given,
  ...(fires && { fires }),
  expected: ['node.py'],
});

const attacks: Record<string, Attack> = {
  'a committed bare repository whose promisor remote names an SSH command': committed(
    () => `  sshCommand = ${script}\n${promisor('ssh://x/y')}`,
  ),
  'a committed bare repository that allows the protocol of a command by name': committed(
    () => `${promisor(`ext::${script}`)}\n[protocol "ext"]\n  allow = always\n`,
  ),
  'a committed bare repository whose remote is a folder with a program of its own': committed(() =>
    promisor('.', `uploadpack = ${script}`),
  ),
  'a committed bare repository with a file system monitor': committed(
    () => `  fsmonitor = ${script}\n`,
    ['ls-files', '--modified'],
  ),
  'a committed bare repository with an inclusion': committed(
    () => '[include]\n  path = more\n',
    list,
    () => `[core]\n  sshCommand = ${script}\n${promisor('ssh://x/y')}`,
  ),
  'a promisor remote with an SSH command': wantsMissing(
    () => `[core]\n  sshCommand = ${script}\n${promisor('ssh://x/y')}`,
  ),
  'a promisor remote with the protocol of a command': wantsMissing(
    () => `${promisor(`ext::${script}`)}\n[protocol "ext"]\n  allow = always\n`,
  ),
  'a promisor remote of which another address is used': wantsMissing(
    () =>
      `${promisor('https://example.com/x')}\n[url "ext::${script} "]\n  insteadOf = https://example.com/\n[protocol "ext"]\n  allow = always\n`,
  ),
  'a promisor remote with a proxy command': wantsMissing(
    () => `[core]\n  gitProxy = ${script}\n${promisor('git://x/y')}`,
  ),
  'a file system monitor': unpacked(() => `[core]\n  fsmonitor = ${script}\n`, ['status']),
  'hooks of the repository': {
    make: async () => {
      const clone = await cloned();
      await writeFiles(clone, { 'hooks/post-index-change': `#!/bin/sh\ntouch ${marker}\n` });
      await chmod(join(clone, 'hooks/post-index-change'), 0o755);
      await appendFile(join(clone, '.git/config'), '[core]\n  hooksPath = hooks\n');
      await writeFile(join(clone, 'node.py'), 'x\n');
      return clone;
    },
    fires: ['add', 'hooks'],
    expected: ['hooks/post-index-change', 'node.py'],
  },
  'a filter that cleans what is read': unpacked(() => `[filter "f"]\n  clean = ${script}\n`, ['diff'], {
    '.gitattributes': '*.py filter=f\n',
  }),
  'a filter that is a process': unpacked(
    () => `[filter "f"]\n  process = ${script}\n  required = true\n`,
    ['add', 'node.py'],
    { '.gitattributes': '*.py filter=f\n' },
  ),
  'an external diff': unpacked(() => `[diff]\n  external = ${script}\n`, ['diff']),
  'a conversion to text': unpacked(() => `[diff "d"]\n  textconv = ${script}\n`, ['diff'], {
    '.gitattributes': '*.py diff=d\n',
  }),
  ...Object.fromEntries(
    ['include', 'includeIf "gitdir:**"'].map((section): [string, Attack] => [
      `a committed file that the configuration includes by [${section}]`,
      {
        make: async () => {
          const clone = await cloned({ 'more.txt': `[core]\n  fsmonitor = ${script}\n` });
          await appendFile(join(clone, '.git/config'), `[${section}]\n  path = ../more.txt\n`);
          return clone;
        },
        fires: ['status'],
        expected: ['more.txt', 'node.py'],
      },
    ]),
  ),
  'an alias of the command that lists files': unpacked(
    () => `[alias]\n  ls-files = !${script}\n  config = !${script}\n  other = !${script}\n`,
    ['other'],
  ),
  'programs for pages, signatures, credentials and editors': unpacked(
    () =>
      `[core]\n  pager = ${script}\n[pager]\n  ls-files = ${script}\n[gpg]\n  program = ${script}\n[log]\n  showSignature = true\n[credential]\n  helper = !${script}\n[core]\n  editor = ${script}\n  askPass = ${script}\n[sequence]\n  editor = ${script}\n`,
    ['commit', '--allow-empty', '-S', '-m', 'x'],
  ),
  'a .git file that names a committed folder': {
    make: async () => {
      const clone = await cloned({}, (origin) =>
        bareRepository(origin, `  fsmonitor = ${script}\n  sshCommand = ${script}\n${promisor('ssh://x/y')}`),
      );
      await rm(join(clone, '.git'), { recursive: true });
      await writeFile(join(clone, '.git'), 'gitdir: pack\n');
      return clone;
    },
    fires: list,
    expected: 'git takes the folder "pack" for a repository',
  },
  'a repository inside a submodule': {
    make: async () => {
      const library = join(place, 'library');
      await writeFiles(library, { 'lib.py': 'x\n' });
      await git(library, 'init', '--quiet');
      await git(library, 'add', '--all');
      await git(library, 'commit', '--quiet', '-m', 'x');
      const clone = await cloned();
      await git(clone, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'vendor');
      await git(join(clone, 'vendor'), 'config', 'core.fsmonitor', script);
      await git(clone, 'config', '-f', '.gitmodules', 'submodule.vendor.update', `!${script}`);
      await git(clone, 'config', 'submodule.vendor.update', `!${script}`);
      return clone;
    },
    fires: ['-C', 'vendor', 'status'],
    expected: ['.gitmodules', 'node.py', 'vendor/lib.py'],
  },
  'the variables of a hook, of configuration and of programs': withEnvironment(
    () => ({
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: script,
      GIT_CONFIG_PARAMETERS: `'core.fsmonitor=${script}'`,
      GIT_EXTERNAL_DIFF: script,
      GIT_SSH_COMMAND: script,
      GIT_ASKPASS: script,
      GIT_PAGER: script,
    }),
    ['status'],
  ),
  'a folder of programs of git': withEnvironment(() => ({ GIT_EXEC_PATH: join(place, 'programs') })),
  'another repository, index and prefix': withEnvironment(() => ({
    GIT_DIR: join(place, 'origin/.git'),
    GIT_WORK_TREE: outside,
    GIT_INDEX_FILE: join(place, 'index'),
    GIT_PREFIX: 'x/',
    GIT_OBJECT_DIRECTORY: outside,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: outside,
    GIT_NAMESPACE: 'x',
  })),
};

async function chosen(folder: string, includes: readonly string[] = []) {
  return chooseFiles(folder, { includes }).then(
    ({ files }) => files.map(({ path }) => path),
    (error: Error & { problems?: readonly { path: string; message: string }[] }) =>
      [error.message, ...(error.problems ?? []).map(({ path, message }) => `${path} ${message}`)].join('\n'),
  );
}

describe('a hostile repository', () => {
  test.each(Object.entries(attacks))('runs no command by %s', async (_, attack) => {
    const folder = await attack.make();
    await rm(marker, { force: true });
    Object.assign(process.env, attack.environment?.());
    const found = await chosen(folder);

    expect(existsSync(marker)).toBe(false);
    expect(found).toEqual(
      typeof attack.expected === 'string' ? expect.stringContaining(attack.expected) : attack.expected,
    );
    if (!attack.fires || attack.fires.length === 0) return;
    const env = { ...process.env, GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0', ...author };
    await new Promise((resolve) => {
      spawn('git', attack.fires ?? [], { cwd: folder, env, stdio: 'ignore' }).once('exit', resolve);
    });
    expect(existsSync(marker)).toBe(true);
  });

  const asItIs = (bin: string) => bin;
  const asLink = () => join(place, 'link');

  test.each<[string, string, (bin: string) => string]>([
    ...['clone/node_modules/.bin', 'node_modules/.bin', 'clone/bin'].map(
      (bin) => [bin, 'as it is', asItIs] as [string, string, typeof asItIs],
    ),
    ...['node_modules/.bin', 'clone/bin'].map(
      (bin) => [bin, 'as a link', asLink] as [string, string, typeof asItIs],
    ),
    ['clone/bin', 'with two slashes', (bin) => `/${bin.replace('/clone/', '//clone/./')}/`],
    ['clone/bin', 'from the current folder', (bin) => relative(process.cwd(), bin)],
  ])('runs no "git" from %s on the path, written %s', async (bin, _, spelled) => {
    const clone = await cloned();
    await git(clone, 'init', '--quiet', 'vendor');
    await git(join(clone, 'vendor'), 'commit', '--quiet', '--allow-empty', '-m', 'A submodule');
    await git(clone, 'add', 'vendor');
    await writeFiles(join(place, bin), { git: `#!/bin/sh\ntouch ${marker}\n` });
    await chmod(join(place, bin, 'git'), 0o755);
    await symlink(join(place, bin), join(place, 'link'));
    process.env.PATH = [spelled(join(place, bin)), environment.PATH].join(delimiter);

    await chosen(clone);
    await chosen(join(clone, 'vendor'));

    expect(existsSync(marker)).toBe(false);
  });

  test('reveals nothing of a folder that the repository claims', async () => {
    const clone = await cloned();
    await git(clone, 'config', 'core.worktree', outside);

    expect(await listFiles(clone)).toMatchObject({ paths: ['node.py'], notes: [] });
  });

  test('starts git without the secrets of the job', async () => {
    const clone = await cloned();
    const bin = join(outside, 'bin');
    await writeFiles(bin, { git: `#!/bin/sh\nenv > ${marker}\n` });
    await chmod(join(bin, 'git'), 0o755);
    process.env.PATH = [bin, environment.PATH].join(delimiter);
    process.env.ACTIONS_ID_TOKEN_REQUEST_TOKEN = 'secret of the job';
    process.env.NODE_REGISTRY_TOKEN = 'secret of a person';

    await chosen(clone);

    expect(await readFile(marker, 'utf8')).toContain('GIT_ALLOW_PROTOCOL=none');
    expect(await readFile(marker, 'utf8')).not.toContain('secret');
  });

  const asRoot = process.getuid?.() === 0 ? test : test.skip;

  asRoot(
    'is read in the workspace of a job with a container, where another user owns it, and nowhere else',
    async () => {
      const clone = await cloned();
      await chown(clone, 1001, 1001);
      await chown(join(clone, '.git'), 1001, 1001);
      const elsewhere = await chosen(clone);
      Object.assign(process.env, { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: clone });
      const inside = await chosen(clone);
      Object.assign(process.env, { GITHUB_WORKSPACE: outside });
      const outsideOfIt = await chosen(clone);

      expect(elsewhere).toMatch(/cannot be read: fatal: detected dubious ownership/);
      expect(inside).toEqual(['node.py']);
      expect(outsideOfIt).toMatch(/dubious ownership/);
    },
  );

  test('lists its files with git in a folder that is a bare repository', async () => {
    const folder = await committed(() => '').make();
    await writeFile(join(folder, 'new.py'), '');

    const { paths, chosenBy } = await listFiles(folder);

    expect([chosenBy, paths]).toEqual(['git', expect.arrayContaining(['HEAD', 'new.py'])]);
  });
});

const author = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

const pipe = (path: string) => runFile('mkfifo', [path]);

describe('a file outside of the folder', () => {
  test.each<[string, Record<string, string>, string[], RegExp]>([
    [
      'behind a linked folder',
      { link: '../outside' },
      ['link/secret.txt'],
      /link\/secret.txt is a link to something that is not published/,
    ],
    [
      'in a folder behind a linked one',
      { link: '../outside' },
      ['link/deep'],
      /"link\/deep" leads out of the folder/,
    ],
    ['behind two links', { one: 'two', two: '../outside' }, ['one/secret.txt'], /one\/secret.txt is a link/],
    [
      'behind a linked folder of the machine',
      { proc: '/proc' },
      ['proc/self/environ'],
      /proc\/self\/environ is a link/,
    ],
    [
      'behind a folder that is linked below others',
      { 'a/b/link': '../../../outside' },
      ['a/b/link/secret.txt'],
      /a\/b\/link\/secret.txt is a link/,
    ],
    [
      'by a tracked link',
      { 'a.txt': '../outside/secret.txt' },
      [],
      /a.txt is a link to something that is not published/,
    ],
    [
      'by a tracked link to a folder',
      { a: '../outside' },
      [],
      /a is a link to something that is not published/,
    ],
    ['by a link to itself', { a: 'a' }, [], /a is a link to nothing/],
    [
      'by a pattern',
      { 'b.txt': '/etc/passwd' },
      ['*.txt'],
      /b.txt is a link to something that is not published/,
    ],
    [
      'in the settings of the clone',
      { 'c.txt': '.git/config' },
      [],
      /c.txt is a link to something that is not published/,
    ],
  ])('leaves out a file %s', async (_, links, includes, sentence) => {
    const clone = await cloned({}, async (origin) => {
      for (const [path, target] of Object.entries(links)) {
        await mkdir(join(origin, path, '..'), { recursive: true });
        await symlink(target, join(origin, path));
      }
    });

    expect(await chosen(clone, includes)).toMatch(sentence);
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

  test('does not quote a file outside from a linked pyproject.toml', async () => {
    const clone = await cloned({}, (origin) => symlink('/proc/self/environ', join(origin, 'pyproject.toml')));
    const { failures } = await readPyProject(clone);

    expect(failures.map(({ message }) => message)).toEqual([
      'The pyproject.toml is not a file of the folder of at most 1 MB.',
    ]);
  });

  test('does not write a file outside by init', async () => {
    const clone = await cloned({}, (origin) =>
      symlink('../outside/secret.txt', join(origin, 'pyproject.toml')),
    );

    await expect(initCommand(clone, { publisher: 'demo' })).rejects.toThrow('is not a plain file');
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe('of the machine');
  });

  test('does not create a file outside by init', async () => {
    const clone = await cloned({}, (origin) =>
      symlink('../outside/new.toml', join(origin, 'pyproject.toml')),
    );

    await expect(initCommand(clone, { publisher: 'demo' })).rejects.toThrow('is not a plain file');
    expect(existsSync(join(outside, 'new.toml'))).toBe(false);
  });

  test('does not copy a file outside from a linked requirements.txt by init', async () => {
    const clone = await cloned({}, (origin) =>
      symlink('../outside/secret.txt', join(origin, 'requirements.txt')),
    );
    await initCommand(clone, { publisher: 'demo' });

    expect(await readFile(join(clone, 'pyproject.toml'), 'utf8')).not.toContain('of the machine');
  });
});

/** Every place where git opens a file of its own, before it lists anything. */
const openedByGit: [string, (clone: string) => Promise<string>][] = [
  ...[
    ...['.git/HEAD', '.git/config', '.git/index', '.git/info/exclude', '.git/objects/info/alternates'],
    ...['.git/packed-refs', '.git/commondir', '.git', '.gitignore'],
  ].map((name): (typeof openedByGit)[number] => [name, async (clone) => join(clone, name)]),
  [
    'an object that it needs',
    async (clone) => {
      await wantMissingFile(clone);
      return join(clone, '.git/objects', missing.slice(0, 2), missing.slice(2));
    },
  ],
  [
    'HEAD of another repository inside',
    async (clone) => {
      await git(clone, 'init', '--quiet', 'inner');
      return join(clone, 'inner/.git/HEAD');
    },
  ],
  ...[
    ['an inclusion', '[include]\n  path = ../named\n'],
    ['an inclusion under a condition', '[includeIf "gitdir:**"]\n  path = "../named"\n'],
    ['an inclusion by the home of a user', `[include]\n  path = ~root/..${'ABSOLUTE'}\n`],
    ['an inclusion with a tab in its name', '[include]\n  path = "../na\\tmed"\n'],
    ['an inclusion before a comment', '[include] path = ../named ; a note\n'],
    ['an inclusion that is quoted in part', '[include]\n  path = ../"nam"ed\n'],
    ['an inclusion on two lines', '[include]\n  path = ../na\\\nmed\n'],
    ['an inclusion after a comment that looks continued', '[include]\n# path = \\\npath = ../named\n'],
    ['an inclusion before a zero byte', '[include]\n  path = ../named\0x\n'],
    ['a list of what is excluded', '[core]\n  excludesFile = ABSOLUTE\n'],
  ].map(([what, config = '']): (typeof openedByGit)[number] => [
    `${what} of the configuration`,
    async (clone) => {
      const named = join(clone, 'named');
      await appendFile(join(clone, '.git/config'), config.replace('ABSOLUTE', named));
      return named;
    },
  ]),
  [
    'an inclusion of an inclusion',
    async (clone) => {
      await appendFile(join(clone, '.git/config'), '[include]\n  path = more\n');
      await writeFiles(clone, { '.git/more': '[include]\n  path = ../named\n' });
      return join(clone, 'named');
    },
  ],
  [
    'an inclusion of a file that is called exclude',
    async (clone) => {
      await appendFile(join(clone, '.git/config'), '[include]\n  path = exclude\n');
      await writeFiles(clone, { '.git/exclude': '[include]\n  path = ../named\n' });
      return join(clone, 'named');
    },
  ],
  [
    'an inclusion whose name ends with a blank of another script',
    async (clone) => {
      await appendFile(join(clone, '.git/config'), '[include]\n  path = ../named\u00a0\n');
      return join(clone, 'named\u00a0');
    },
  ],
  [
    'objects of another repository',
    async (clone) => {
      await writeFiles(clone, { '.git/objects/info/alternates': '../../../other\n', '../other/keep': '' });
      return join(place, 'other/info/alternates');
    },
  ],
  [
    'a repository that a .git file names',
    async (clone) => {
      await rename(join(clone, '.git'), join(place, 'moved'));
      await writeFiles(clone, { '.git': 'gitdir: ../moved\n' });
      return join(place, 'moved/index');
    },
  ],
];

describe('a file that git opens', () => {
  test.each(openedByGit)('does not wait for a pipe that replaces %s', async (_, pathOf) => {
    const path = await pathOf(await cloned());
    await rm(path, { recursive: true, force: true });
    await mkdir(dirname(path), { recursive: true });
    await pipe(path);

    expect(await chosen(join(place, 'clone'))).toMatch(/neither a file nor a folder|only git knows where/);
    await initCommand(join(place, 'clone'), { publisher: 'demo' });
  });

  test.each(['HEAD', 'commondir'])('ignores %s next to an invalid .git', async (name) => {
    const folder = join(place, 'clone');
    await writeFiles(folder, { '.git/keep': '', HEAD: `ref: refs/heads/a\n`, 'objects/a': '', 'refs/a': '' });
    await rm(join(folder, name), { force: true });
    await pipe(join(folder, name));

    expect(await chosen(folder)).toMatch(/\.git is not valid/);
  });

  test.each([
    ...['.git/config', '.git/info/exclude', '.git/commondir', '.git/objects/info/alternates'],
    ...['.gitignore', 'sub/.gitignore', '.git/more'],
  ])('does not read all of %s if it has 3 GB', async (name) => {
    const clone = await cloned({ 'sub/node.py': '' });
    await appendFile(join(clone, '.git/config'), '[include]\n  path = more\n');
    await appendFile(join(clone, name), '');
    await truncate(join(clone, name), 3_000_000_000);

    expect(await chosen(clone)).toMatch(/has over 1 MB, and git would read all of it/);
  });

  test('gives init no address from outside of the repository', async () => {
    const clone = await cloned();
    await writeFiles(outside, { settings: '[remote "origin"]\n  url = https://example.com/secret\n' });
    await git(clone, 'config', '--remove-section', 'remote.origin');
    await appendFile(join(clone, '.git/config'), `[include]\n  path = ${join(outside, 'settings')}\n`);
    await initCommand(clone, { publisher: 'demo' });

    expect(await readFile(join(clone, 'pyproject.toml'), 'utf8')).not.toContain('secret');
  });

  test('includes the credentials of actions/checkout without harm', async () => {
    const clone = await cloned();
    await writeFiles(outside, { 'git-credentials.config': '[http]\n  extraheader = x\n' });
    const credentials = join(outside, 'git-credentials.config');
    await git(clone, 'config', `includeIf.gitdir:${clone}/.git.path`, credentials);

    expect(await chosen(clone)).toEqual(['node.py']);
  });

  test('lists a repository with the usual leftovers of git and its tools', async () => {
    const clone = await cloned();
    const server = createServer().listen(join(clone, '.git/fsmonitor--daemon.ipc'));
    await rm(join(clone, '.git/hooks'), { recursive: true, force: true });
    await mkdir(join(clone, '.git/hooks'));
    await symlink('/dev/null', join(clone, '.git/hooks/pre-commit'));
    await git(clone, 'config', 'core.excludesFile', '/dev/null');
    await git(clone, 'config', 'difftool.mine.path', process.execPath);
    for (const branch of ['commondir', 'alternates']) await git(clone, 'branch', branch);

    expect(await chosen(clone)).toEqual(['node.py']);
    server.close();
  });

  test('stops reading a link to a device', async () => {
    const clone = await cloned();
    await symlink('/dev/zero', join(clone, '.git/objects/info/alternates'));

    expect(await chosen(clone)).toMatch(/alternates is neither a file nor a folder/);
  });

  test('ends git with a sentence if it takes too long', async () => {
    const clone = await cloned();
    await pipe(join(place, 'settings'));
    process.env.GIT_CONFIG_GLOBAL = join(place, 'settings');

    await expect(runGit({ top: clone, folder: clone }, ['ls-files'], 300)).rejects.toThrow(
      'git has not answered in 0.3 seconds.',
    );
  });
});

describe('a file that may not be read', () => {
  test('names it, in the place of an internal error', async () => {
    const folder = join(place, 'plain');
    await writeFiles(folder, { 'node.py': '', 'private.txt': 'x' });
    await chmod(join(folder, 'private.txt'), 0);
    await Promise.all([directory, place].map((path) => chmod(path, 0o755)));
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.(65534);
    const found = await chosen(folder).finally(() => isRoot && process.seteuid?.(0));

    expect(found).toBe('private.txt cannot be read: EACCES.');
  });
});

describe('a pipe in the place of a file', () => {
  test.each(['data.bin', '.publishignore', '.gitignore', 'pyproject.toml'])(
    'does not hold up %s',
    async (name) => {
      const folder = join(place, 'plain');
      await writeFiles(folder, { 'node.py': '' });
      await pipe(join(folder, name));

      expect(await chosen(folder)).toMatch(/is not a file of the folder|is neither a file nor a folder/);
      expect((await readPyProject(folder)).failures).toHaveLength(name === 'pyproject.toml' ? 1 : 0);
    },
  );
});
