import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createPersonalAccessToken } from '@node-registry/registry-rules/personal-access-tokens';
import { directory, folder } from '@node-registry/testing/folders';
import { packedProgram, projectOf, publishNode, reportOf } from '@node-registry/testing/publish-node';
import { emptyFiles, type Files, git, runFile, writeFiles } from '@node-registry/testing/shell';
import { unzip } from '@node-registry/testing/unzip';
import { sectionOf } from '../changelog.ts';
import { chooseFiles } from '../files/pack.ts';
import { secretIn } from '../files/secrets.ts';

const project = (version: string) => projectOf('planned', version);
const plan = (args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) =>
  reportOf(['publish', folder, '--dry-run', ...args], { env });

const paths = async (includes: string[] = []) =>
  (await chooseFiles(folder, { includes })).files.map(({ path }) => path);

describe('.comfyignore', () => {
  test.each<[string, string, string[], string]>([
    ['a pattern at any depth', '*.psd\n', [], 'docs/a.md docs/keep.md node.py web/app.js'],
    ['a folder', 'docs/\n', [], 'art/logo.psd node.py web/app.js'],
    [
      'comments, blanks and Windows line ends',
      '# x\r\n  docs  \r\n\r\n',
      [],
      'art/logo.psd node.py web/app.js',
    ],
    [
      'the last rule that matches, even in a folder that is left out',
      'docs/\n!docs/keep.md\n',
      [],
      'art/logo.psd docs/keep.md node.py web/app.js',
    ],
    ['no file that includes names', 'docs/\nweb/\n', ['web'], 'art/logo.psd node.py web/app.js'],
    ['everything but a folder', '*\n!web/*\n', [], 'web/app.js'],
  ])('leaves out %s', async (_, rules, includes, expected) => {
    await writeFiles(folder, {
      '.comfyignore': rules,
      'web/.comfyignore': '*.js\n',
      ...emptyFiles('node.py art/logo.psd docs/a.md docs/keep.md web/app.js'),
    });
    const found = (await paths(includes)).filter((path) => !path.endsWith('.comfyignore'));

    expect(found).toEqual(expected.split(' '));
  });

  test('counts next to .publishignore, which leaves out what includes names too', async () => {
    const rules = { '.comfyignore': 'a.py\n', '.publishignore': 'b.py\n.*ignore\n' };
    await writeFiles(folder, { ...rules, ...emptyFiles('a.py b.py c.py') });

    expect(await paths(['a.py', 'b.py'])).toEqual(['a.py', 'c.py']);
  });

  test('leaves out an empty submodule', async () => {
    await git(folder, 'init', '--quiet');
    await writeFiles(folder, {
      'node.py': '',
      '.comfyignore': 'vendor/\n',
      'pyproject.toml': project('1.0.0'),
    });
    await git(folder, 'add', '--all');
    await git(folder, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},vendor`);
    await writeFiles(folder, { 'vendor/.keep': '' });
    await rm(join(folder, 'vendor/.keep'));

    expect(await paths()).toEqual(['.comfyignore', 'node.py', 'pyproject.toml']);
    await rm(join(folder, '.comfyignore'));
    expect((await plan()).details).toEqual([{ path: 'vendor', message: 'is empty.' }]);
  });

  test.each(['', '/vendor/\n'])('names an empty submodule without git, ignored as %j', async (ignored) => {
    const modules = ['vendor', 'gone', '../beside', 'full', 'node.py'].map(
      (path) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = https://example.com/${path}\n`,
    );
    await writeFiles(folder, {
      '.gitmodules': modules.join(''),
      '.gitignore': ignored,
      'pyproject.toml': project('1.0.0'),
      ...emptyFiles('node.py full/a.py'),
    });
    await mkdir(join(folder, 'vendor'));

    expect((await plan()).details).toEqual([{ path: 'vendor', message: 'is empty.' }]);
    await writeFiles(folder, { '.publishignore': 'vendor/\n' });
    expect((await plan()).notes).toEqual([
      'gone is left out: .gitmodules names it, and it is not in the folder.',
      '../beside is left out: .gitmodules names it, and it is not in the folder.',
    ]);
  });
});

describe.each(['sha1', 'sha256'])('the files of a git repository with %s', (format) => {
  const content = 'tracked\n';

  beforeEach(async () => {
    await git(folder, 'init', '--quiet', `--object-format=${format}`);
    await writeFiles(folder, { 'pyproject.toml': project('1.0.0'), 'a.py': content, 'b.py': content });
    await git(folder, 'add', '--all');
  });

  test('compares each file with git, and marks untracked and modified ones', async () => {
    const others = Object.fromEntries([1, 2, 3, 4, 5].map((at) => [`other${at}.py`, '']));
    await writeFiles(folder, { 'b.py': 'other\n', 'new.py': '', ...others });
    const { files, notes } = await plan();
    const { stdout } = await publishNode(['publish', folder, '--dry-run']);

    expect(files).toEqual([
      { path: 'a.py', bytes: 8 },
      { path: 'b.py', bytes: 6, git: 'modified' },
      { path: 'new.py', bytes: 0, git: 'untracked' },
      ...Object.keys(others).map((path) => ({ path, bytes: 0, git: 'untracked' })),
      { path: 'pyproject.toml', bytes: expect.any(Number) },
    ]);
    expect(notes).toEqual([
      'Published, but not in git: new.py, other1.py, other2.py, other3.py, other4.py and 1 more.',
      'Published with uncommitted changes: b.py.',
    ]);
    expect(stdout).toMatch(/\nThe largest:\n +\d+ B {2}pyproject\.toml\n +8 B {2}a\.py\n/);
    expect(stdout).toMatch(/^a\.py\nb\.py {2}\(with uncommitted changes\)\nnew\.py {2}\(not in git\)\n/);
  });

  test('counts as the same with Windows line ends, as a link, and as a pointer of Git LFS', async () => {
    const model = randomBytes(3000);
    const digest = createHash('sha256').update(model).digest('hex');
    await writeFiles(folder, {
      'a.py': content.replace('\n', '\r\n'),
      'model.bin': `version https://git-lfs.github.com/spec/v1\noid sha256:${digest}\nsize 3000\n`,
    });
    await symlink('a.py', join(folder, 'link.py'));
    await git(folder, 'add', 'model.bin', 'link.py');
    await writeFile(join(folder, 'model.bin'), model);

    expect((await plan()).files.filter(({ git: state }: { git?: string }) => state !== undefined)).toEqual(
      [],
    );
  });
});

test.each([
  ['.gitattributes', 'keys/** filter=git-crypt diff=git-crypt\n'],
  ['keys/.gitattributes', '"a b.txt" filter=crypt-work\n'],
  ['.gitattributes', '[attr]sealed filter=git-agecrypt\n*.txt text sealed\n'],
  ['.git/info/attributes', '*.txt filter=sops'],
  ['.gitattributes', '\uFEFF# Windows\r\n*.TXT filter=git-crypt\r\n'],
  [
    '.gitattributes',
    '[attr]outer inner\n[attr]inner filter=git-crypt\n"keys/\\141 b.t\\x\\164" outer x=\u2028\n',
  ],
])(
  'a file that git keeps encrypted stops the publish where the folder has it readable, by %s with %j',
  async (file, attributes) => {
    await git(folder, 'init', '--quiet');
    await writeFiles(folder, { 'pyproject.toml': project('1.0.0'), 'keys/a b.txt': 'encrypted' });
    await writeFiles(folder, { [file]: attributes, 'keys/open.py': '' });
    await git(folder, 'add', '--all');
    const locked = await plan();
    await writeFiles(folder, { 'keys/a b.txt': 'readable' });

    expect([locked.code, (await plan(['--allow', 'keys/a b.txt'])).code]).toEqual([0, 0]);
    expect((await plan()).details).toEqual([
      { path: 'keys/a b.txt', message: 'is encrypted in git, and readable here.' },
    ]);
  },
);

describe('a pointer of Git LFS', () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 5\n`;

  test('stops the publish unless it is allowed', async () => {
    await writeFiles(folder, { 'pyproject.toml': project('1.0.0'), 'models/a.bin': pointer });

    expect((await plan()).details).toEqual([{ path: 'models/a.bin', message: 'is a pointer.' }]);
    expect(await plan(['--allow', 'models/a.bin'])).toMatchObject({ code: 0 });
  });
});

describe('a version that pyproject.toml does not name', () => {
  const tag = (name: string) => ({ GITHUB_ACTIONS: 'true', GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: name });

  test.each<[string, string, string[], NodeJS.ProcessEnv]>([
    ['--version', '1.0.0', ['--version', '1.1.0'], {}],
    ['--version, of a version as Python writes it', '1.0.0rc1', ['--version', '1.0.0'], {}],
    ['the tag of a GitHub job', '1.0.0', [], tag('v1.1.0')],
    ['the tag of a GitLab job', '1.0.0', [], { GITLAB_CI: 'true', CI_COMMIT_TAG: '1.1.0' }],
  ])('stops %s without --other-version', async (_, own, args, env) => {
    await writeFiles(folder, { 'pyproject.toml': project(own), 'node.py': '' });
    const failed = await plan(args, env);

    expect([failed.code, failed.message]).toEqual([
      2,
      expect.stringContaining('insist with --other-version'),
    ]);
    expect((await plan([...args, '--other-version'], env)).details).not.toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('insist') }),
    );
  });

  test.each<[string, string[], NodeJS.ProcessEnv]>([
    ['1.0.0', ['--version', 'v1.0'], {}],
    ['1.0.0rc1', ['--version', '1.0.0-rc.1'], {}],
    ['1.0.0', [], tag('v1.0.0')],
    ['1.0.0', [], tag('nightly')],
    ['1.0.0', [], tag('2024')],
    ['1.0.0', [], { ...tag('v2.0.0'), GITHUB_REF_TYPE: 'branch' }],
  ])('differs from %s with %j and %j', async (own, args, env) => {
    await writeFiles(folder, { 'pyproject.toml': project(own), 'node.py': '' });

    expect(await plan(args, env)).toMatchObject({ code: 0, error: null });
  });
});

describe('a key of a service', () => {
  const random = 'Ab3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5hJ7k';

  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  const lower = 'abcdefghijklmnopqrstuvwxyz0123456789';
  const alphabets = {
    L: letters,
    A: `${letters}-_`,
    h: '0123456789abcdef',
    B: `${letters.slice(0, 26)}234567`,
  };
  const signs = { ...alphabets, l: lower, d: '1234567890', b: `${letters}+/` };
  /** In braces the sign of an alphabet and a number of characters: one of each kind that is issued. */
  const shapes = `
    sk-ant-api03-{A93}AA sk-proj-{A48} sk-svcacct-{A48} sk-admin-{A48} sk-{L20}T3BlbkFJ{L20}
    sk-or-v1-{h64} sk-{h32} sk_live_{L24} rk_live_{L99} hf_{L34} api_org_{L34} ghp_{L36} gho_{L36}
    ghu_{L36} ghs_{L36} ghr_{L76} github_pat_11{L20}_{L59} AKIA{B16} ASIA{B16} AIza{A35} npm_{L36}
    glpat-{A20} glpat-{A27}.01.1{l7} xoxb-{d12}-{d13}-{L24} r8_{L37} xoxp-{d10}-{d10}-{d12}-{h32}
    xapp-1-A0{B9}-{d13}-{h64} comfyui-{h64} gsk_{L52} xai-{L80} pplx-{L48} sk_{h48}
    pypi-AgEIcHlwaS5vcmc{A150} dckr_pat_{A27} SG.{A22}.{A43} dapi{h32} GOCSPX-{A28} ya29.{A150}
    dop_v1_{h64} shpat_{h32} lin_api_{L40} ntn_{L46} key_{h128} nvapi-{A64} csk-{l48} tvly-dev-{L32}
    rpa_{B42} jina_{h32}{A28} pcsk_{L5}_{L60} luma-{h8}-{h4}-{h4}-{h4}-{h12}-{h8}-{h4}-{h4}-{h4}-{h12}
    lsv2_pt_{h32}_{h10} sbp_{h40} sntrys_{b150} ATATT3{A180} PMAK-{h24}-{h34} glsa_{L32}_{h8}
    //discord.com/api/webhooks/{d18}/{A68} //hooks.slack.com/services/T{B10}/B{B10}/{L24}
    postgresql://app:{L16}@db.host.io/x mongodb+srv://me:{L16}@c0.mongodb.net key-{h32} {h32}-us12
    aws_secret_access_key={b40} AccountKey={b86}== FAL_KEY="{h8}-{h4}-{h4}-{h4}-{h12}:{h32}"
    {d9}:AA{A33} M{L25}.{A6}.{A38} pat{L14}.{h64}`
    .trim()
    .split(/\s+/)
    .concat('CIVITAI_API_KEY = "{h32}"', '"together_token": "{h64}"');
  test.each(shapes)('finds each of 200 generated keys of the shape %s', (shape) => {
    const count = Number(
      [...shape.matchAll(/(?<=\{.)\d+/g)].reduce((sum, [digits]) => sum + Number(digits), 0),
    );
    const bytes = createHash('shake256', { outputLength: 200 * count })
      .update(shape)
      .digest();
    let at = 0;
    const randomOf = (sign: string, length: string) => {
      const alphabet = signs[sign as keyof typeof signs];
      const part = bytes.subarray(at, at + Number(length));
      at += part.length;
      return Array.from(part, (byte) => alphabet[byte % alphabet.length]).join('');
    };
    const keys = Array.from({ length: 200 }, () =>
      shape.replaceAll(/\{(\w)(\d+)\}/g, (_, sign, length) => randomOf(sign, length)),
    );

    expect(keys.filter((key) => !secretIn('a.py', Buffer.from(`url = '${key}'\n`)))).toEqual([]);
  });

  test.each([
    ...[`{"text": "first\\nsk-${random}"}`, `https://example.com/?key%3Dsk-${random}`, `KEY_sk-${random}`],
    ...[`sk-${random}\\n`, `\u001B[32msk-${random}`, `\\u001b[1;32msk-${random}\\u001b[0m`],
    ...[`\\u0022sk-${random}\\u0022`, `\\x3Esk-${random}`, `key=3Dsk-${random}`, `login -tsk-${random}`],
  ])('finds a key within %s', (text) => {
    expect(secretIn('a.json', Buffer.from(text))).toBe('holds a key that begins with sk-.');
  });

  test.each([
    ...['class="sk-estimator-doc-link-with-Many-Words-And-1-Digit"', `npm_${'x'.repeat(36)}`],
    ...['sk-anime_Checkpoint_v2_pruned_fp16.safetensors', 'hf_Transformer2ModelConverterForDiffusers3Layers'],
    ...['.sk-toggleable__control_hidden__visually1 {}', 'sk-1234567890abcdef1234567890abcdef'],
    ...['sk-1234567890ABCDEFGHIJabcdefghij', 'hf_abcdefghijklmnopqrstuvwxyz12345678', `xoxo-${random}`],
    ...['sk-proj-abc123abc123abc123abc123abc123abc123abc123abc123', `sk-${'x'.repeat(40)}`],
    ...['hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH', `sk-ant-api03-${'x'.repeat(42)}`, `hf_${'x'.repeat(34)}`],
    ...['sk-your-key-here-1234567890abcdefghij', 'class="sk-folding-cube-container"', `desk-${random}`],
    ...['hf_hub_download_with_a_very_long_name_of_function', 'AKIAIOSFODNN7EXAMPLE', `AIza${'A'.repeat(35)}`],
    ...['npm_config_registry_and_a_long_name_of_a_variable', `glpat-${'x'.repeat(20)}`],
    'postgres://user:password123@host.io/db',
    'postgresql://a:S3cr3t-9aB7x@localhost/x',
    `pat${random}.a`,
    'civitai_hash = "0123456789abcdef0123456789abcdee"',
    `AWS_SECRET_ACCESS_KEY=\${{ secrets.AWS }}`,
    `key-${random}`,
    `redis://:\${PASSWORD}@cache.internal:6379`,
    'comfyui-frontend-package',
    `hf_${'A7'.repeat(17)}`,
    `comfyui-${'ab'.repeat(32)}`,
    ...['xoxb-your-token-goes-here-1234567890', `r8_${'*'.repeat(37)}`, `r8_${random}${random}`],
  ])('finds no key in %s', (text) => {
    expect(secretIn('config.py', Buffer.from(text))).toBeUndefined();
  });

  test.each<[string, (text: string) => Buffer]>([
    ['UTF-16', (text) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
    ['UTF-16 in the other order', (text) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()],
    ['UTF-16 without a mark', (text) => Buffer.from(text, 'utf16le')],
    ['UTF-16 in the other order without a mark', (text) => Buffer.from(text, 'utf16le').swap16()],
    ['UTF-8 with a mark', (text) => Buffer.from(`\uFEFF${text}`)],
  ])('finds secrets of every kind in %s', (_, encode) => {
    const token = createPersonalAccessToken();
    const begin = `-----BEGIN PRIVATE KEY-----\n${random}\n`;

    expect(secretIn('a.txt', encode(`KEY=sk-${random}`))).toBe('holds a key that begins with sk-.');
    expect(secretIn('a.txt', encode(begin))).toBe('holds a private key.');
    expect(secretIn('a.txt', encode(`token: ${token}`))).toMatch(/^holds a personal access token/);
    expect(secretIn('.npmrc', encode('//x/:_authToken=abc\n'))).toBe('is a credentials file.');
    expect(secretIn('a.txt', encode('Nothing to see here.'))).toBeUndefined();
  });

  test.each<[string, string, string]>([
    ['a.txt', '-----BEGIN text', 'a private key'],
    ['.npmrc', '//x/:_authToken', 'a credentials file'],
  ])('reads a large %s that begins with %s in pieces, and finds %s at its end', (path, start, what) => {
    const end = path === '.npmrc' ? '\n//x/:_auth=abc' : `\n-----BEGIN PRIVATE KEY-----\n${random}`;
    const content = Buffer.from(`${start}\n${'x '.repeat(2_500_000)}${end}`);
    const read = jest.spyOn(content, 'toString');

    expect(secretIn(path, content)).toContain(what);
    expect(Math.max(...read.mock.results.map(({ value }) => String(value).length))).toBeLessThan(1_100_000);
  });

  test('skips binary files, texts of more than 1 MB and half of a character', () => {
    const key = `hf_${random.slice(0, 34)}`;
    const cut = Buffer.from([0xfe, 0xff, 0x78]);

    expect(secretIn('a.txt', cut)).toBeUndefined();
    expect(secretIn('a.bin', Buffer.concat([Buffer.from([0, 1]), Buffer.from(key)]))).toBeUndefined();
    expect(secretIn('a.txt', Buffer.from(`${key}${' '.repeat(1_000_000)}`))).toBeUndefined();
  });
});

describe('an archive in the folder', () => {
  test.each(['git', 'ignore files'])('stays out of %s once pack or download wrote it there', async (by) => {
    await writeFiles(folder, { 'pyproject.toml': project('1.0.0'), 'node.py': '', 'docs/a-1.0.0.zip': 'x' });
    await writeFiles(folder, { 'weights.zip': 'x', 'other-node-2.0.0-rc.1.zip': 'x' });
    if (by === 'git') await git(folder, 'init', '--quiet');
    const before = await plan();
    const packed = await publishNode(['pack', folder, '--output', join(folder, 'planned-1.0.0.zip')]);
    const after = await plan();

    expect(packed.code).toBe(0);
    expect([before.chosen_by, after.sha256]).toEqual([by, before.sha256]);
    const published = after.files.map(({ path }: { path: string }) => path).join(' ');
    expect(published).toBe('docs/a-1.0.0.zip node.py pyproject.toml weights.zip');
    expect(after.notes.join()).toContain(
      'planned-1.0.0.zip is left out: it looks like an archive that pack or download wrote.',
    );
  });

  test('stays in the plan if git tracks it or includes names it', async () => {
    await writeFiles(folder, { 'node.py': '', 'data-1.0.0.zip': 'x', 'more-1.0.0.zip': 'x' });
    await git(folder, 'init', '--quiet');
    await git(folder, 'add', 'data-1.0.0.zip');

    expect(await paths(['more-1.0.0.zip'])).toEqual(['data-1.0.0.zip', 'more-1.0.0.zip', 'node.py']);
  });
});

test('rejects a folder that is too large with its ten largest files', async () => {
  const { archiveLimits } = await import('@node-registry/registry-rules/archives/limits');
  const sizes = Array.from({ length: 12 }, (_, index) => [`f${index}.bin`, Buffer.alloc(1000 + index)]);
  await writeFiles(folder, Object.fromEntries(sizes) as Files);
  const before = archiveLimits.unpackedBytes;
  // One byte less than they have.
  Object.assign(archiveLimits, { unpackedBytes: 12_065 });
  const failure = await chooseFiles(folder, {}).catch((error) => error);
  Object.assign(archiveLimits, { unpackedBytes: before });

  expect(failure.problems).toEqual(
    [11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((index) => ({ path: `f${index}.bin`, message: '1.0 kB' })),
  );
});

describe('a word from another tool', () => {
  test.each([
    ['unpublish', 'withdraw'],
    ['ls', 'versions NODE'],
  ])('leads from %s to %s', async (word, instead) => {
    const { code, stderr } = await publishNode([word, 'my-node']);

    expect([code, stderr]).toEqual([2, expect.stringContaining(instead)]);
  });
});

test('the help of edit describes each option, and takes no version', async () => {
  const { stdout } = await publishNode(['edit', '--help']);

  expect(stdout).toContain('--banner <url>');
  expect(stdout).not.toMatch(/--\S+ <\w+>\s*$|VERSION/m);
});

describe('CHANGELOG.md', () => {
  const log = '# Changes\n\n## [v1.1.0] - 2026-01-01\n\n### Fixed\n- A\n\n## 1.0.0\nFirst.\n\n## 0.9\nOld.\n';

  test.each([
    ['1.1.0', '### Fixed\n- A'],
    ['1.0.0', 'First.'],
    ['0.9.0', 'Old.'],
    ['2.0.0', undefined],
  ])('has the part on %s', (version, part) => {
    expect(sectionOf(log.replaceAll('\n', '\r\n'), version)).toBe(part);
  });

  test('is the change log of a version unless an option names another', async () => {
    await writeFiles(folder, { 'pyproject.toml': project('1.0.0'), 'CHANGELOG.md': log });
    const note = 'The change log is the part on 1.0.0 of CHANGELOG.md.';

    expect((await plan()).notes).toEqual([note]);
    expect((await plan(['--changelog', 'Other.'])).notes).toEqual([]);
  });
});

test('a link to nothing is left out with a note', async () => {
  await writeFiles(folder, { 'pyproject.toml': project('1.0.0') });
  await symlink('nowhere', join(folder, 'gone.py'));

  expect((await plan()).notes).toEqual(['gone.py is left out: it is a link to nothing.']);
});

test('a full disk is named', async () => {
  await writeFiles(folder, { 'pyproject.toml': project('1.0.0') });
  const args = ['publish', folder, '--dry-run', '--github'];
  const { code, stderr } = await publishNode(args, { env: { GITHUB_OUTPUT: '/dev/full' } });

  expect([code, stderr]).toEqual([2, expect.stringContaining('The disk is full.')]);
});

test('init leaves a pyproject.toml as it was if the disk is full', async () => {
  const before = `# ${'x'.repeat(1000)}\n`;
  await writeFiles(folder, { 'pyproject.toml': before });
  const init = [process.execPath, packedProgram(), 'init', folder, '--publisher', 'demo'];
  const { code, stderr } = await runFile('sh', ['-c', 'ulimit -f 2; exec "$@"', 'sh', ...init]);

  expect([code, stderr]).toEqual([2, expect.stringContaining('pyproject.toml cannot be written')]);
  expect(await readFile(join(folder, 'pyproject.toml'), 'utf8')).toBe(before);
});

test('pack writes the archive that publish would send, and never over a file', async () => {
  await writeFiles(folder, { 'pyproject.toml': project('1.0.0'), 'node.py': 'print(1)\n' });
  const output = join(directory, 'looked-at.zip');
  const packed = await reportOf(['pack', folder, '--output', output]);
  const again = await publishNode(['pack', folder, '--output', output]);
  const archive = await readFile(output);

  const sha256 = createHash('sha256').update(archive).digest('hex');
  expect([packed, await plan()]).toMatchObject([{ status: 'packed', sha256 }, { sha256 }]);
  expect([...(await unzip(archive)).keys()]).toEqual(['node.py', 'pyproject.toml']);
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining(`${output} exists. Name a new`)]);
});
