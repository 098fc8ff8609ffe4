import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createRegistryClient } from '@node-registry/registry-client';
import { admin } from '../support/admin.ts';
import { folder } from '@node-registry/testing/folders';
import {
  packedProgram,
  projectOf,
  publishNode,
  reportOf,
  spawnPublishNode,
} from '@node-registry/testing/publish-node';
import { startRegistry } from '../support/publishing.ts';
import { serve } from '../support/serve.ts';
import { plainEnvironment, runFile, writeFiles } from '@node-registry/testing/shell';
import { shownHostNodes, storedNode } from '../support/registry.ts';
import { until } from '@node-registry/testing/until';

const listeners = process.listeners('SIGINT');
const { access, api, events } = await startRegistry();

// After a publish Ctrl-C must not say that it can be resumed.
afterAll(() => expect(process.listeners('SIGINT')).toEqual(listeners));

const write = (node: string, files = {}) =>
  writeFiles(folder, { 'pyproject.toml': projectOf(node), 'node.py': 'x', ...files });

const options = { env: access };
const given = (name: string, args: string[]) =>
  args[0]?.startsWith('-') === false ? [name, ...args] : [name, folder, ...args];
const command = (name: string, ...args: string[]) => publishNode(given(name, args), options);
const report = (name: string, ...args: string[]) => reportOf(given(name, args), options);

async function storedVersion(node_id: string, version = '1.0.0') {
  const client = createRegistryClient({ baseUrl: api.url });
  const [entry] = await client.versions.bulk([{ node_id, version }]);
  return entry?.node_version;
}

const keys = [
  ...'code stderr status publisher node version download_url sha256 archive_bytes unpacked_bytes'.split(' '),
  ...'chosen_by files left_out notes host_node_extract_status host_node_extract_reason host_nodes'.split(' '),
  ...'host_node_notes node_version reason nodes versions user publishers tokens token members'.split(' '),
  ...'invitations invitation trusts output error message details request_id'.split(' '),
];

describe('publish-node --json', () => {
  test('keeps one shape for a dry run, a publish, a second publish and a status', async () => {
    await write('reported');
    const planned = await report('publish', '--dry-run');
    const [published, again] = [await report('publish'), await report('publish')];
    const active = await report('status');
    const told = await command('publish');
    const bytes = Buffer.from(await (await fetch(published.download_url)).arrayBuffer());

    for (const each of [planned, published, again, active]) expect(Object.keys(each)).toEqual(keys);
    const documented = await readFile('docs/publishing.md', 'utf8');
    expect(
      keys.filter((key) => !['code', 'stderr'].includes(key) && !documented.includes(`\`${key}\``)),
    ).toEqual([]);
    const { sha256, archive_bytes } = planned;
    const same = { code: 0, publisher: 'demo', node: 'reported', version: '1.0.0', sha256, archive_bytes };
    const failed = {
      host_node_extract_status: 'failed',
      host_node_extract_reason: 'It has no __init__.py at its root.',
    };
    const plan = {
      unpacked_bytes: 87,
      chosen_by: 'ignore files',
      left_out: [],
      notes: [],
      host_nodes: [],
      files: ['node.py', 'pyproject.toml'].map((path, at) => ({ path, bytes: [1, 86][at] })),
    };
    expect([createHash('sha256').update(bytes).digest('hex'), bytes.length]).toEqual([sha256, archive_bytes]);
    expect(told.stdout).toContain(`download  ${published.download_url}\nsha256    ${sha256}\n`);
    expect(told.stderr).toContain('Packing 2 files, 87 B.');
    expect(planned).toMatchObject({ ...same, ...plan, ...failed, status: 'dry_run' });
    expect([published, again]).toMatchObject([plan, plan]);
    expect(active).toMatchObject({ unpacked_bytes: null, chosen_by: null, files: null, host_nodes: null });
    for (const [each, status] of [
      [published, 'published'],
      [again, 'already_published'],
      [active, 'active'],
    ]) {
      const { node_version } = each;
      expect(each).toMatchObject({ ...same, status, download_url: node_version.downloadUrl });
      expect(node_version).toMatchObject({ sha256, size_bytes: archive_bytes, version: '1.0.0' });
    }
  });

  const [invalidToken, nowhere] = ['invalid_personal_access_token', 'http://localhost:1'];

  test.each<[string, [string, ...string[]], number, string, RegExp, string | null]>([
    ['a wrong command line', ['publish', '--versoin', '1'], 2, 'usage', /Did you mean --version\?/, null],
    ['a folder that is not there', ['status', 'nowhere'], 2, 'usage', /There is no folder/, null],
    [
      'a version of a node',
      ['withdraw', '--version', '1.0.0'],
      2,
      'usage',
      /Unknown option '--version'/,
      null,
    ],
    ['a file without a name', ['pack', '--output', ''], 2, 'usage', /It needs a value/, null],
    ['an init', ['init'], 2, 'usage', /has a \[tool.node-registry\] table already/, null],
    ['a secret', ['publish', '--version', 'v2.0.0'], 2, 'usage', /look like secrets/, '2.0.0'],
    ['an invalid label', ['publish', '--version', '1.0.0rc1'], 2, 'usage', /semantic/, '1.0.0rc1'],
    ['a rejection', ['publish', '--allow', '.env', '--token', 'nrp_x'], 3, invalidToken, /unknown/, '1.0.0'],
    ['a version that is not there', ['status'], 3, 'not_found', /The node version does not exist/, '1.0.0'],
    ['a registry that is not there', ['status', '--base-url', nowhere], 5, 'unreachable', /reached/, '1.0.0'],
  ])('reports one JSON object for %s', async (_, args, exitCode, error, sentence, version) => {
    await write('not-reported', { '.env': 'A=1' });
    const failed = await report(...args);

    expect(Object.keys(failed)).toEqual(keys);
    expect(failed).toMatchObject({ code: exitCode, status: 'failed', error, sha256: null, files: null });
    expect(failed.message).toMatch(sentence);
    expect(failed).toMatchObject({ version, ...(version && { publisher: 'demo', node: 'not-reported' }) });
  });

  test('writes valid Unicode, even if a node of the pack has half of a surrogate pair', async () => {
    await write('half', { '__init__.py': String.raw`raise ValueError("half \ud83c")` });
    const { stdout } = await command('publish', '--dry-run', '--json');

    expect(JSON.parse(stdout).host_node_extract_reason).toContain('ValueError: half \ufffd');
    expect(stdout).not.toMatch(/\\ud83c/i);
  });
});

describe('publish-node status', () => {
  test('reports that a published version was banned, and why', async () => {
    await write('banned-later');
    await command('publish');
    await admin('node-version', 'ban', 'banned-later', '1.0.0', '--reason', 'It mines coins.');

    const why =
      'The operator of the registry has banned this version: It mines coins. Publish a new version.';
    const stderr = expect.stringContaining(`The registry rejected the request: ${why}\n`);
    expect(await command('publish')).toMatchObject({ code: 3, stdout: '', stderr });
    expect(await command('status')).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^banned-later 1\.0\.0 is banned\.\nreason {6}It mines coins\.\n/),
    });
  });

  test('reports that a node is withdrawn, after its owner withdrew it, until it is restored', async () => {
    await write('withdrawn-node');
    const published = await report('publish');
    const withdrawn = await report('withdraw', '--reason', 'Use another one.');
    const rejected = await command('publish', '--version', '1.1.0', '--other-version');
    const readable = await report('status');
    const restored = await report('restore');

    expect(withdrawn).toMatchObject({ code: 0, status: 'withdrawn', node: 'withdrawn-node' });
    expect(withdrawn).toMatchObject({ publisher: 'demo', reason: 'Use another one.', version: null });
    expect(rejected.code).toBe(3);
    expect(rejected.stderr).toContain('the request: The node is withdrawn and takes no new version.');
    expect(rejected.stderr).toContain('withdrawn: publish-node restore withdrawn-node\n');
    expect([readable.status, readable.download_url]).toEqual(['active', published.download_url]);
    expect(restored).toMatchObject({ code: 0, status: 'restored', reason: null });
    expect(await storedNode('withdrawn-node')).not.toHaveProperty('status_detail');
    expect(await command('publish', '--version', '1.1.0', '--other-version')).toMatchObject({ code: 0 });
  });
});

test('publish-node status says that a node is withdrawn, whose versions are active', async () => {
  const server = await serve((request, response) => {
    const downloadUrl = `${server.url}/archives/pack.zip`;
    const node_version = { status: 'NodeVersionStatusActive', downloadUrl };
    const node = { id: 'pack', status: 'NodeStatusDeleted', status_detail: 'Use another one.', versions: [] };
    const isBulk = request.method === 'POST';
    if (isBulk) response.setHeader('x-request-id', 'r');
    return response.end(JSON.stringify(isBulk ? { node_versions: [{ node_version }] } : node));
  });
  const ending = await publishNode(['status', 'pack@1.0', '--base-url', server.url]);

  expect([ending.code, ending.stdout]).toEqual([
    3,
    expect.stringMatching(/^pack is withdrawn, .*\nreason +Use another/),
  ]);
});

describe('publish-node withdraw NODE@VERSION', () => {
  const operator = 'npm run admin -- node-version withdraw pack 1.0.0';

  test.each([
    ['withdraw', 'Active', 'DELETE', 204, { status: 'withdrawn' }],
    ['withdraw', 'Pending', 'DELETE', 204, { status: 'dropped' }],
    ['restore', 'Deleted', 'PUT', 200, { status: 'restored' }],
    ['restore', 'Active', 'PUT', 200, { status: 'active' }],
    ['withdraw', 'Active', 'DELETE', 404, { message: expect.stringContaining(operator) }],
  ] as const)(
    '%ss a version that is %s by its id: %s answers %i',
    async (verb, state, method, status, shown) => {
      const asked: string[] = [];
      const server = await serve((request, response) => {
        asked.push(`${request.method} ${request.url}`);
        const node_version = { id: 'a/b', status: `NodeVersionStatus${state}` };
        if (request.method === 'POST')
          return response.end(JSON.stringify({ node_versions: [{ node_version }] }));
        // A stage without self-service has no such route.
        response.writeHead(status, { 'x-request-id': 'r' });
        return response.end(status === 204 ? '' : '{"error": "route_not_found"}');
      });
      const args = [verb, 'pack@1.0', '--publisher', 'demo', '--json', '--base-url', server.url];
      const { code, stdout } = await publishNode(args, { env: access });

      expect([code, JSON.parse(stdout)]).toMatchObject([
        status === 404 ? 3 : 0,
        { version: '1.0.0', ...shown },
      ]);
      expect(asked.at(-1)).toBe(`${method} /publishers/demo/nodes/pack/versions/a%2Fb`);
    },
  );
});

test('publish-node pending lists what waits, and how to drop it', async () => {
  const waiting = [
    { version: '1.1.0', createdAt: '2026-01-02T03:04:05Z', status_reason: 'Waits for its upload.' },
  ];
  let asked = '';
  const server = await serve((request, response) => {
    asked = request.url ?? '';
    return response.end(JSON.stringify(waiting));
  });
  const args = ['pending', 'pack', '--publisher', 'demo', '--base-url', server.url];
  const { code, stdout } = await publishNode(args, { env: access });

  expect([code, asked]).toEqual([
    0,
    expect.stringMatching(/nodes\/pack\/versions\?statuses=NodeVersionStatusPending$/),
  ]);
  expect(stdout).toMatch(/1\.1\.0 +2026-01-02T03:04 +Waits for its upload\.\n.*withdraw pack@VERSION/s);
});

test('publish-node edit sets what pyproject.toml and options name, without a release, also for a node by its ID', async () => {
  await write('edited');
  await command('publish');
  const edited = await report('edit', ...'--description Loads. --tags image --tags fast'.split(' '));
  const here = (...args: string[]) => publishNode(args, { env: access, cwd: folder });
  const { code } = await here('edit', 'edited', '--icon', 'https://example.com/i.png');

  expect([edited.code, edited.status, code]).toEqual([0, 'edited', 0]);
  expect(await storedNode('edited')).toMatchObject({
    description: 'Loads.',
    tags: ['image', 'fast'],
    icon: 'https://example.com/i.png',
  });
  expect((await here('status', 'edited@1.0.0')).code).toBe(0);
  expect((await here('edit', 'edited')).stderr).toContain('Name what to change');
});

const asks = 'The registry asks for an access token: NODE_REGISTRY_ACCESS_TOKEN, or --access-token TOKEN.';

test('publish-node publish reports a missing access token, and where a wrong one came from', async () => {
  await write('without-access');
  const env = { ...access, NODE_REGISTRY_ACCESS_TOKEN: undefined };
  const { code, stderr } = await publishNode(['publish', folder], { env });
  const wrong = await command('publish', '--access-token', 'a.b.c');

  expect([code, stderr]).toEqual([3, expect.stringContaining(asks)]);
  expect(wrong).toMatchObject({ code: 3, stderr: expect.stringContaining('It came from --access-token.') });
});

const nodes = `import host

class Load:
    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "run"
    CATEGORY = "ours"
    @classmethod
    def INPUT_TYPES(cls): return {"required": {"path": ("STRING",)}}

class Save(Load):
    CATEGORY = host.category()

NODE_CLASS_MAPPINGS = {"Load it": Load, "Save it": Save}
NODE_DISPLAY_NAME_MAPPINGS = {"Load it": "Load an image"}
`;

describe('the host nodes of a publish', () => {
  /** The few seconds after which it waits no longer: they end when a test says so. */
  let patience: AbortController;

  beforeEach(() => {
    patience = new AbortController();
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const signalOf = (ms: number) => (ms === 5000 ? patience.signal : timeout(ms));
    jest.spyOn(AbortSignal, 'timeout').mockImplementation(signalOf);
  });

  test('are shown by --dry-run as the registry then reads them out of the archive, with what was skipped', async () => {
    await write('foreseen', {
      '__init__.py': `${nodes}if host.is_new: NODE_CLASS_MAPPINGS["Zoom"] = Load\n"a" + 1\n`,
    });
    const text = await command('publish', '--dry-run');
    const { host_nodes: foreseen, ...plan } = await report('publish', '--dry-run');
    await command('publish');

    expect(text.stdout).toMatch(
      /^ {2}Load it "Load an image" {2}\(ours: run\)\n {4}takes path STRING\n {4}returns IMAGE$/m,
    );
    expect(text.stdout).toMatch(/^ {2}Save it {2}\(\?: run\)\n(?: {4}.*\n){2} {4}left open: category: /m);
    expect(text.stdout).toContain('  Zoom  (ours: run) (only under a condition)\n');
    const note = '__init__.py:16 is skipped: TypeError: unsupported operand types';
    expect(text.stdout).toContain(`What could not be followed, and may be wrong:\n  ${note}\n3 in all.\n`);
    expect(plan).toMatchObject({ host_node_extract_status: 'success', host_node_notes: [note] });
    expect(await shownHostNodes('foreseen')).toEqual(foreseen.map(storedFields));
  });

  /** The table has no attributes for what is sure. */
  function storedFields({ conditional, left_open: open, ...fields }: Record<string, unknown>) {
    return {
      ...fields,
      ...(conditional === true && { conditional }),
      ...(String(open) && { left_open: open }),
    };
  }

  test('counts the host nodes', async () => {
    await write('counted', { '__init__.py': nodes });
    const first = await command('publish');
    const again = await report('publish');
    const status = await command('status');

    expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/\n2 host nodes\n$/)]);
    const success = { host_node_extract_status: 'success' };
    expect(again).toMatchObject({ ...success, status: 'already_published', node_version: success });
    expect(again.host_nodes).toMatchObject([{ host_node_name: 'Load it' }, { host_node_name: 'Save it' }]);
    expect(status.stdout).toMatch(/^host nodes {2}success$/m);
  });

  test.each([
    [
      'unread',
      'import elsewhere\nNODE_CLASS_MAPPINGS = elsewhere.nodes',
      'Its NODE_CLASS_MAPPINGS come from elsewhere.nodes (__init__.py:2).',
    ],
    ['unnamed', `${nodes}NODE_CLASS_MAPPINGS[""] = Load`, 'A host node has an empty name.'],
  ])('name the reason if they are %s, as --dry-run and status do', async (node, code, why) => {
    await write(node, { '__init__.py': code });
    const plan = await command('publish', '--dry-run');
    const published = await command('publish');

    expect([plan.code, published.code]).toEqual([0, 0]);
    expect(plan.stdout).toContain(`They could not be read, or not all of them: ${why}\n`);
    expect(published.stdout).toContain(`\nhost nodes: failed: ${why}\n`);
    const failed = { host_node_extract_status: 'failed', host_node_extract_reason: why };
    expect(await report('publish')).toMatchObject({ ...failed, status: 'already_published' });
    expect((await command('status')).stdout).toContain(`host nodes  failed: ${why}\n`);
  });

  test('reports that they are still being read after a few seconds, and does not fail', async () => {
    await write('late', { '__init__.py': nodes });
    events.ofArchivesAreLost = true;
    api.reset();
    const looks = () => api.received.filter(({ route }) => route.includes('/bulk/')).length;
    const running = command('publish');
    // Until then it waits for its upload.
    await until(() => jest.mocked(AbortSignal.timeout).mock.calls.flat().includes(5000));
    const before = looks();
    await until(() => looks() > before + 1);
    patience.abort();
    const { code, stdout } = await running;
    events.ofArchivesAreLost = false;

    expect(code).toBe(0);
    expect(stdout).toMatch(/\nhost nodes are being read; see: .* status --node late --version 1\.0\.0\n$/);
    expect((await command('status')).stdout).toMatch(/^host nodes {2}pending$/m);
  });
});

describe('publish-node with a folder', () => {
  test('publishes the folder in which npm runs it to the local stack, also when its ports are moved', async () => {
    // Without the metadata of the folder it would ask for the name of the node.
    await write('moved');
    const LOCAL_PORT_OFFSET = String(Number(new URL(api.url).port) - 3000);
    const env = { ...access, NODE_REGISTRY_URL: undefined, LOCAL_PORT_OFFSET, INIT_CWD: folder };
    const program = ['--conditions=in-tree', 'tools/local/publish-node.ts', 'publish'];
    const { stdout } = await runFile(process.execPath, program, { env });

    expect(stdout).toContain('moved 1.0.0 is published.');
  });

  test('does not publish changed files under the same version', async () => {
    await write('changed');
    await command('publish');
    const sha256 = (await storedVersion('changed'))?.sha256;
    await writeFiles(folder, { 'node.py': 'y' });
    const failed = await report('publish');

    const meant = { publisher: 'demo', node: 'changed', version: '1.0.0' };
    expect(failed).toMatchObject({ code: 3, ...meant, error: 'published_with_other_bytes' });
    expect(failed.stderr).toContain('This version is published with other files.');
    expect(sha256).toMatch(/^\w{64}$/);
    expect(await storedVersion('changed')).toMatchObject({ sha256, status: 'NodeVersionStatusActive' });
  });
});

test('publish-node deprecate marks a published version and takes it back, with a changelog, and publishes none', async () => {
  await write('aged');
  await command('publish');
  const deprecate = (version: string, ...args: string[]) =>
    publishNode(['deprecate', version, ...args], { cwd: folder, env: access });
  const absent = await deprecate('aged@9.0.0');
  const elsewhere = { cwd: '/', env: access };
  const nameless = await publishNode(['deprecate', '1.0.0', '--publisher', 'demo'], elsewhere);
  const marked = await deprecate('aged@v1.0', '--changelog', 'Use 2.0.0.');
  const during = await storedVersion('aged');
  const undone = await deprecate('1.0.0', '--undo', '--json');

  const reasoned = await deprecate('1.0.0', '--reason', 'It is slow.');
  const repeated = await deprecate('1.0.0', '--reason', 'It is slow.');
  expect([reasoned.code, repeated.code]).toEqual([0, 0]);
  expect((await storedVersion('aged'))?.changelog).toBe('Use 2.0.0.\n\nDeprecated: It is slow.');
  // All but the first change nothing any more, as after a lost response.
  const atOnce = await Promise.all([1, 2, 3].map(() => deprecate('1.0.0', '--undo')));
  expect(atOnce.map(({ code }) => code)).toEqual([0, 0, 0]);

  expect(marked).toMatchObject({ code: 0, stdout: expect.stringContaining('aged 1.0.0 is deprecated') });
  expect(during).toMatchObject({ deprecated: true, changelog: 'Use 2.0.0.' });
  // Unknown is no empty list.
  expect(during).not.toHaveProperty('dependencies');
  expect([undone.code, JSON.parse(undone.stdout).status]).toEqual([0, 'undeprecated']);
  expect(await storedVersion('aged')).toMatchObject({ deprecated: false, changelog: 'Use 2.0.0.' });
  expect([absent.code, nameless.code, nameless.stderr]).toEqual([3, 2, 'Name the node: NODE@1.0.0.\n']);
  expect(await publishNode(['status', '1.0.0'], elsewhere)).toMatchObject({ stderr: nameless.stderr });
  expect(await storedVersion('aged', '9.0.0')).toBeUndefined();
});

describe('a failed run', () => {
  test.each<[NodeJS.Signals, string, number | null, RegExp]>([
    ['SIGKILL', 'Uploading', null, /Uploading/],
    ['SIGINT', 'Waiting', 130, /\nStopped.* To see the result: publish-node status at-waiting-6@1\.0\.0\n$/],
  ])('resumes after %s while it said %s', async (signal, stage, code, sentence) => {
    await write(`at-${stage}-${signal.length}`.toLowerCase(), { 'noise.bin': randomBytes(300_000) });
    events.areLost = true;
    const env = { ...plainEnvironment, ...access };
    const child = spawn(process.execPath, [packedProgram(), 'publish', folder], { env });
    // At 'exit' its last words may not have been read.
    const closed = new Promise((resolve) => child.once('close', resolve));
    let said = '';
    child.stderr.on('data', (text) => {
      const isFirst = !said.includes(stage);
      said += String(text);
      if (isFirst && said.includes(stage)) child.kill(signal);
    });

    const endedWith = await closed;
    events.areLost = false;
    expect([endedWith, said]).toEqual([code, expect.stringMatching(sentence)]);
    expect(await command('publish')).toMatchObject({ code: 0 });
  });

  test('says that nothing was published after Ctrl-C while it reads the folder', async () => {
    await write('never-sent');
    const stop = "process.once('newListener', () => queueMicrotask(() => process.emit('SIGINT')));";
    await writeFiles(folder, { 'stop.cjs': stop });
    const env = { ...access, NODE_OPTIONS: `--require=${join(folder, 'stop.cjs')}` };
    const { code, stdout, stderr } = await spawnPublishNode(['publish', folder, '--json'], { env });
    const sentence =
      'Stopped before the upload: nothing was published. To publish it, run the same command again.';

    expect([code, stderr, JSON.parse(stdout)]).toMatchObject([
      ...[130, `${sentence}\n`],
      { status: 'failed', error: 'interrupted', message: sentence },
    ]);
  });

  test('continues after a lost upload event, and status gives the reason for waiting', async () => {
    await write('event-lost');
    events.areLost = true;
    // In a process of its own, which ends only if nothing of the wait is left, and in the folder that is the default.
    const first = await spawnPublishNode(['publish', '--timeout', '0.5'], { cwd: folder, env: access });
    const waiting = await publishNode(['status', folder], { env: access });
    events.areLost = false;

    expect(first).toMatchObject({ code: 5, stderr: expect.stringContaining('still being checked') });
    expect([waiting.code, waiting.stdout]).toEqual([
      5,
      expect.stringContaining('event-lost 1.0.0 is pending.'),
    ]);
    expect(waiting.stdout).toContain('reason      Waiting for the archive');
    expect(waiting.stdout).toContain('To finish it: publish-node publish\n');
    expect(await command('publish')).toMatchObject({ code: 0 });
    expect(await publishNode(['status', folder], { env: access })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/is active.*download/s),
    });
  });
});

test('publish-node init writes a pyproject.toml that can be published unchanged', async () => {
  const requirements = '# What it needs\n--extra-index-url https://example.com\nnumpy>=2 # fast\n\npillow\n';
  await writeFiles(folder, { 'node.py': 'x', LICENSE: 'MIT', 'requirements.txt': requirements });
  const options = '--publisher demo --node begun --display-name Begun --description Loads'.split(' ');
  const { code } = await publishNode(['init', folder, ...options]);

  expect(code).toBe(0);
  expect(await command('publish')).toMatchObject({ code: 0 });
  const sent = api.received.find(({ route }) => route.endsWith('/nodes/begun/versions'));
  expect(JSON.parse(String(sent?.body)).node).toMatchObject({ name: 'Begun', description: 'Loads' });
  expect(await storedVersion('begun')).toMatchObject({
    status: 'NodeVersionStatusActive',
    dependencies: ['numpy>=2', 'pillow'],
  });
});
