import { generateKeyPairSync } from 'node:crypto';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createPersonalAccessToken } from '@node-registry/registry-rules/personal-access-tokens';
import { normalizeVersion, semanticSpelling } from '@node-registry/registry-rules/version-label';
import { cpuMsOf } from '@node-registry/testing/cpu';
import { folder } from '@node-registry/testing/folders';
import { dryRun, projectOf, publishNode, reportOf } from '@node-registry/testing/publish-node';
import { emptyFiles, writeFiles } from '@node-registry/testing/shell';
import type { Failure } from '../failure.ts';
import { chooseFiles, pack, pathProblems } from '../files/pack.ts';
import { secretIn } from '../files/secrets.ts';

const rejectedPaths = (allow: string[] = []) =>
  chooseFiles(folder, { allow }).then(
    () => [],
    ({ problems }: Failure) => problems.map(({ path }) => path),
  );

const pem = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const token = createPersonalAccessToken();
const empty = (path: string): [string, string] => [path, ''];

describe('publish-node and secrets', () => {
  test.each<[string, string | Buffer]>([
    ...[
      '.env .env.production deep/down/.env.local .env/bin/activate prod.env deploy/local.env',
      'keys/id_rsa keys/id_rsa.bak id_ed25519 id_ecdsa_sk~ key.ppk store.p12 a.pfx a.jks a.keystore',
      '.pypirc .netrc _netrc .git-credentials .htpasswd .dockercfg .vault-token .huggingface/token',
      '.aws/credentials .gem/credentials .cargo/credentials.toml .config/gh/hosts.yml .kube/config',
      '.docker/config.json google/credentials.json application_default_credentials.json client_secret_4.json',
    ].flatMap((paths) => paths.split(' ').map(empty)),
    ['.env.example', `TOKEN=${token}`],
    ['certificate.pem', pem.privateKey],
    ['src/embedded.py', `KEY = """${pem.privateKey}"""`],
    ['pgp.asc', `-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n${'lQVYBF5x'.repeat(8)}\n`],
    ['service.json', JSON.stringify({ private_key: pem.privateKey })],
    ['.npmrc', '//registry.example.com/:_authToken=abc'],
    ['README.md', `Use ${token} to publish.`],
    ['image.png', Buffer.concat([Buffer.from([0x89, 0x50, 0, 255]), Buffer.from(`${token}\0`)])],
  ])('rejects a secret in %s', async (path, content) => {
    await writeFiles(folder, { 'node.py': '', [path]: content });

    expect(await rejectedPaths()).toEqual([path]);
    expect(await rejectedPaths(['node.py'])).toEqual([path]);
    expect(await rejectedPaths([path])).toEqual([]);
  });

  test('publishes public keys, certificates, near misses and mistyped tokens', async () => {
    const mistyped = `${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`;
    await writeFiles(folder, {
      'public.pem': pem.publicKey,
      ...emptyFiles('environment.py .env_example .env.local.sample'),
      'id_rsa.pub': 'ssh-rsa AAAA',
      'scanner.py': 'if "-----BEGIN PRIVATE KEY-----" in text: reject()',
      '.npmrc': `save-exact=true\n//registry.example.com/:_authToken=\${TOKEN}\n`,
      'README.md': `A token reads ${mistyped}, nrp_ and more.`,
    });

    expect(await rejectedPaths()).toEqual([]);
  });
});

describe('publish-node and paths that the registry rejects', () => {
  test('reports every path that the registry would reject, and no other', () => {
    const rejected = ['aux.py', 'C:/a.py', 'sub/.hg/hgrc', 'evil\u202Eyp.exe', 'A.PY', 'lib', 'main.py;1'];
    const paths = ['a.py', 'auxiliary.py', 'lib/x.py', '.gitignore', 'größe/節點 (2) [x].py'];

    expect(pathProblems(paths)).toEqual([]);
    expect(pathProblems([...paths, ...rejected])).toHaveLength(rejected.length);
  });

  test('names the folder that git would take for a repository', async () => {
    await writeFiles(folder, {
      'node.py': '',
      'tests/bare/HEAD': 'ref: refs/heads/main\n',
      'tests/bare/config': '[core]\n',
      'tests/bare/objects/keep': '',
      'tests/bare/refs/keep': '',
    });
    const args = dryRun(folder);
    const { code, stderr } = await publishNode(args);

    expect(code).toBe(2);
    expect(stderr).toContain('tests/bare: git takes the folder "tests/bare" for a repository');
    await writeFiles(folder, { '.publishignore': 'tests/\n' });
    expect((await publishNode(args)).code).toBe(0);
  });
});

describe('publish-node and size limits', () => {
  test('rejects an archive that unpacks to more than 100 times its size', async () => {
    await writeFiles(folder, { 'zeros.bin': Buffer.alloc(1_000_000) });

    const chosen = await chooseFiles(folder, {});

    expect(() => pack(chosen)).toThrow('more than 100 times its size');
  });

  test('rejects more than 10,000 files', () => {
    const paths = Array.from({ length: 10_001 }, (_, index) => `${index % 100}/${index}`);

    expect(pathProblems(paths).map(({ path }) => path)).toEqual(['10001 files']);
    expect(pathProblems(paths.slice(1))).toEqual([]);
  });

  test('rejects a folder without files', async () => {
    await expect(chooseFiles(folder, {})).rejects.toThrow('There are no files to publish');
  });
});

describe('publish-node and version labels', () => {
  test.each(
    [
      '1.0.0rc1=1.0.0-rc.1 1.0.0a2=1.0.0-alpha.2 1.0b3=1.0.0-beta.3 1.0c1=1.0.0-rc.1 1.0.0.dev4=1.0.0-dev.4',
      '1.0.0rc1.dev4=1.0.0-rc.1.dev.4 1.0.0.post1=1.0.0+post.1 1.2.3.4=1.2.3+4 v1.0.0RC1=1.0.0-rc.1',
      '1.0.0_beta=1.0.0-beta.0 1,2,3=1.2.3 0!2.0=2.0.0 1.0.0rc1+cu118=1.0.0-rc.1+cu118',
    ].flatMap((rows) => rows.split(' ').map((row) => row.split('='))),
  )('proposes the right spelling of %s', (label = '', proposal = '') => {
    expect(semanticSpelling(label)).toBe(proposal);
    expect(normalizeVersion(proposal)).toBeDefined();
  });

  test.each(['nightly', '1!2.0', '1!1.0', '', 'latest', '1.x', '1..2', 'v'])(
    'proposes no label for %j',
    (label) => {
      expect(semanticSpelling(label)).toBeUndefined();
    },
  );
});

describe('invalid input', () => {
  const project = projectOf('x');
  const licensed = project.replace('[tool', 'license = 5\n[tool');
  const license = 'project.license: must be text, or a table with file or text';
  const long = `${'n'.repeat(200)}!`;

  test.each<[string, string, string[], string]>([
    ['no version', project.replace('version', 'dynamic-version'), [], 'Name the version'],
    ['metadata of a wrong type', '[project]\nname = 5', [], 'project.name: must be text'],
    ['a license of a wrong type', licensed, [], license],
    ['a value in the place of a table', 'project = 5', [], 'project: must be a table'],
    ['an invalid node id', project, ['--node', 'my node'], 'The node "my node" is not valid'],
    ['a long node id', project, ['--node', long], `The node "${long.slice(0, 100)}…" is not valid`],
    ['an invalid address', '', ['--base-url', 'registry'], 'It must be an http or https URL.'],
    [
      'a password',
      project,
      ['--base-url', 'https://me:pw@a.b', '--token', 'x'],
      'without a name and a password',
    ],
    ['an invalid time', '', ['--timeout', 'soon'], 'It must be a number above 0, up to 2000000.'],
    ['too long a time', '', ['--timeout', '2147484'], 'It must be a number above 0, up to 2000000.'],
    ['no token', project, [], 'Sign in with publish-node login'],
  ])('rejects %s before anything is sent', async (_, pyproject, args, sentence) => {
    await writeFiles(folder, { 'node.py': '', ...(pyproject && { 'pyproject.toml': pyproject }) });
    const here = ['publish', folder, '--base-url', 'http://localhost:1'];
    const { code, stdout, stderr } = await publishNode([...here, ...args]);

    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(sentence)]);
    expect(stderr).not.toMatch(/Invalid input|pw@/);
  });
});

describe('a folder with several problems', () => {
  test('reports all problems at once: metadata, identity, includes, links, paths, secrets and allow entries', async () => {
    const wrong = '[project]\nversion = "1.0.0rc1"\ndependencies = "numpy"\n[tool.node-registry]\ntag = []\n';
    await writeFiles(folder, { 'pyproject.toml': wrong, '.env': 'A=1', 'aux.py': '', 'b\\c.py': '' });
    await symlink('..', join(folder, 'link.py'));
    const options = '--publisher Me! --include web/dist --include ../x --allow nothere.txt --allow .evn';
    const { code, details } = await reportOf(['publish', folder, ...options.split(' ')]);
    const problems: { path: string; message: string }[] = details;

    expect(code).toBe(2);
    expect(problems.map(({ path }) => path)).toEqual([
      ...['project.dependencies', 'tool.node-registry.tag', 'node', 'version', 'publisher'],
      ...['web/dist', '../x', 'link.py', 'aux.py', 'b\\c.py', '.env', 'nothere.txt', '.evn', '--token'],
    ]);
    expect(problems.flatMap(({ message }) => /(?:Write|Did you mean) ".*/.exec(message) ?? [])).toEqual([
      ...['Did you mean "tags"?', 'Write "1.0.0-rc.1".', 'Did you mean ".env"?'],
    ]);
  });

  test('does not ask for values that an unreadable pyproject.toml may have', async () => {
    await writeFiles(folder, { 'pyproject.toml': '[project', '.env': 'A=1' });
    const env = { NODE_REGISTRY_TOKEN: token, NODE_REGISTRY_URL: 'http://localhost:1' };
    const { stderr } = await publishNode(['publish', folder], { env });

    expect(stderr).toMatch(
      /^The pyproject\.toml is not valid TOML at line 1, column 2\.\n.*\n {2}\.env: is an environment file\.\n$/s,
    );
    expect(stderr).not.toContain('Name the');
  });
});

const begin = '-----BEGIN RSA PRIVATE KEY-----';
const key = pem.privateKey.trimEnd().split('\n').slice(1).join('\n');
const cell = (source: string) => JSON.stringify({ cells: [{ source: source.split(/(?<=\n)/) }] }, null, 1);
const found = (text: string) => secretIn('a.txt', Buffer.from(text));

describe('a private key', () => {
  test.each([
    ['alone', `${begin}\n${key}\n`],
    ['on Windows', `${begin}\r\n${key}\r\n`],
    ['a string', JSON.stringify(pem.privateKey)],
    ['lines of a notebook', cell(`KEY = """${pem.privateKey}"""\n`)],
    ['a string of a notebook', cell(`KEY = ${JSON.stringify(pem.privateKey)}\n`)],
    ['a sum of strings', pem.privateKey.replaceAll('\n', '\\n" +\n    "')],
    ['a list of strings', `[${pem.privateKey.split('\n').map((text) => `'${text}',\n  `)}].join()`],
    ['a comment', pem.privateKey.replaceAll(/^/gm, '# ')],
    ['a quoted mail', pem.privateKey.replaceAll(/^/gm, '> ')],
    ['a string with escapes of Unicode', pem.privateKey.replaceAll('\n', '\\u000a')],
    ['a URL', encodeURIComponent(pem.privateKey)],
    ['a form', new URLSearchParams({ pem: pem.privateKey }).toString()],
    ['after its headers', `${begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011223344\n\n${key}\n`],
    ['after a header on its own line', `${begin}\nProc-Type: 4,ENCRYPTED ${key}\n`],
    ['in a block of PGP', `-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2.0.22\n\n${key}\n`],
  ])('finds a private key in %s', (_, text) => {
    expect(found(text)).toBe('holds a private key.');
  });

  test.each([
    ['a mention of the first line', `text.startsWith("${begin}")`],
    [
      'a program after it',
      `${begin}";\n${'readKeyOfPkcs8File(privateKeyFilePath, exportPrivateKeyToFile);\n'.repeat(20)}`,
    ],
    ['an example without a key', `${begin}\n...\n-----END RSA PRIVATE KEY-----`],
  ])('finds no private key in %s', (_, text) => {
    expect(found(text)).toBeUndefined();
  });

  test.each([
    ['many headers on one line', `${begin}\n${'a: b '.repeat(30)}!`],
    ['many headers', `${begin}\n${'a: b c\n'.repeat(100_000)}!`],
    ['a long word', `${begin}\n${'a-'.repeat(500_000)}!`],
    ['long words after many first lines', `${begin}${'a'.repeat(950)}`.repeat(2_000)],
    ['many first lines', `${begin}\na: b `.repeat(20_000)],
  ])('searches %s for a private key without much work', async (_, text) => {
    const work = () => expect(found(text)).toBeUndefined();

    // It takes milliseconds; trying every way to divide the text takes seconds at 30 headers, and doubles with each.
    expect(await cpuMsOf(work)).toBeLessThan(2000);
  });
});
