import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { demo } from '../../../tools/local/demo.ts';
import { adminJson } from '../../../tests/support/admin.ts';
import { publishNode, startRegistry, writeFiles } from '../../../tests/support/publishing.ts';
import { bearer } from '../../../tests/support/tokens.ts';
import { until } from '../../../tests/support/until.ts';

let registry: Awaited<ReturnType<typeof startRegistry>>;

beforeAll(async () => {
  registry = await startRegistry();
});

afterAll(() => registry.stop());

/** The few seconds of a publish after which it waits no longer: they end when a test says so. */
let patience: AbortController;

beforeEach(() => {
  patience = new AbortController();
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const signalOf = (ms: number) => (ms === 5000 ? patience.signal : timeout(ms));
  jest.spyOn(AbortSignal, 'timeout').mockImplementation(signalOf);
});

afterEach(() => {
  jest.restoreAllMocks();
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

async function folderOf(node: string, code: string): Promise<string> {
  const folder = await mkdtemp(join(registry.directory, 'pack-'));
  const project = `[project]\nname = "${node}"\nversion = "1.0.0"\n[tool.node-registry]\npublisher = "demo"\n`;
  await writeFiles(folder, { 'pyproject.toml': project, '__init__.py': code });
  return folder;
}

const run = (...args: string[]) =>
  publishNode(args, {
    env: {
      NODE_REGISTRY_URL: registry.api.url,
      NODE_REGISTRY_TOKEN: demo.personalAccessToken,
      NODE_REGISTRY_ACCESS_TOKEN: bearer(demo.owner).replace('Bearer ', ''),
    },
  });

async function report(...args: string[]) {
  return JSON.parse((await run(...args, '--json')).stdout);
}

test('--dry-run shows the host nodes that the registry then reads out of the archive, with all their fields', async () => {
  const folder = await folderOf('foreseen', nodes);
  const text = await run('publish', folder, '--dry-run');
  const { host_nodes: foreseen, ...plan } = await report('publish', folder, '--dry-run');
  await run('publish', folder);

  expect(text.stdout).toMatch(/^ {2}Load it "Load an image" {2}\(ours: run returns \["IMAGE"\]\)$/m);
  expect(text.stdout).toMatch(/^ {2}Save it {2}\(\?: run returns .*\n {4}left open: category: /m);
  expect(text.stdout).toMatch(/\n2 in all\.\nNothing was sent\.\n$/);
  expect(plan).toMatchObject({ host_node_extract_status: 'success', host_node_notes: [] });
  expect(await adminJson('host-node', 'list', 'foreseen', '1.0.0')).toEqual(foreseen.map(storedFields));
});

function storedFields({ conditional: _, left_open: __, ...fields }: Record<string, unknown>) {
  return fields;
}

test('marks conditional host nodes in a dry run, and notes skipped statements', async () => {
  const folder = await folderOf(
    'conditional',
    `${nodes}if host.is_new: NODE_CLASS_MAPPINGS["New"] = Load\n"a" + 1\n`,
  );
  const text = await run('publish', folder, '--dry-run');
  const { host_nodes: found, host_node_notes: notes } = await report('publish', folder, '--dry-run');

  expect(text.stdout).toContain('  New  (ours: run returns ["IMAGE"]) (only under a condition)\n');
  expect(found.map((node: Record<string, unknown>) => [node.host_node_name, node.conditional])).toEqual([
    ['Load it', false],
    ['Save it', false],
    ['New', true],
  ]);
  const note = '__init__.py:16 is skipped: TypeError: unsupported operand types';
  expect(notes).toEqual([note]);
  expect(text.stdout).toContain(`What could not be followed, and may be wrong:\n  ${note}\n`);
});

test.each([
  ['an empty name', '""', 'A host node has an empty name.'],
  ['a name of 201 characters', '"x" * 201', `The name "${'x'.repeat(40)}…" has more than 200 characters.`],
  ['half a character', String.raw`"half \ud83c"`, 'The name "half \ufffd" is not valid Unicode.'],
])('--dry-run fails for %s as the registry does, and lists what it stores', async (title, name, reason) => {
  const node = `named-${title.replaceAll(' ', '-')}`;
  const folder = await folderOf(node, `${nodes}NODE_CLASS_MAPPINGS[${name}] = Load\n`);
  const plan = await report('publish', folder, '--dry-run');
  const published = await report('publish', folder);

  expect(plan).toMatchObject({ host_node_extract_status: 'failed', host_node_extract_reason: reason });
  expect(plan.host_nodes.map(storedFields)).toEqual(await adminJson('host-node', 'list', node, '1.0.0'));
  expect(published).toMatchObject({
    status: 'published',
    host_node_extract_status: 'failed',
    host_node_extract_reason: reason,
  });
});

test('--dry-run leaves out a text that is too long for the registry, and says so', async () => {
  const folder = await folderOf('long', `${nodes}Load.DESCRIPTION = "x" * 90_000\n`);
  const { host_nodes: found } = await report('publish', folder, '--dry-run');

  expect(found[0]).not.toHaveProperty('description');
  expect(found[0].left_open).toEqual(['description: it is too long to be stored']);
});

describe('the host nodes after a publish', () => {
  test('counts the host nodes', async () => {
    const folder = await folderOf('counted', nodes);
    const first = await run('publish', folder);
    const again = await report('publish', folder);
    const status = await run('status', folder);

    expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/\n2 host nodes\n$/)]);
    expect(again).toMatchObject({
      status: 'already_published',
      host_node_extract_status: 'success',
      host_nodes: [{ host_node_name: 'Load it' }, { host_node_name: 'Save it' }],
      node_version: { host_node_extract_status: 'success' },
    });
    expect(status.stdout).toMatch(/^host nodes {2}success$/m);
  });

  test('name the reason if they cannot be read, as --dry-run and status do', async () => {
    const folder = await folderOf('hidden', 'import elsewhere\nNODE_CLASS_MAPPINGS = elsewhere.nodes');
    const why = 'Its NODE_CLASS_MAPPINGS come from elsewhere.nodes (__init__.py:2).';
    const plan = await run('publish', folder, '--dry-run');
    const published = await run('publish', folder);

    expect([plan.code, plan.stdout]).toEqual([
      0,
      expect.stringContaining(`They could not be read, or not all of them: ${why}\n`),
    ]);
    expect([published.code, published.stdout]).toEqual([
      0,
      expect.stringMatching(/\nhost nodes: failed: Its NODE_CLASS_MAPPINGS come from elsewhere\.nodes .*\n$/),
    ]);
    expect((await run('status', folder)).stdout).toContain(`host nodes  failed: ${why}\n`);
  });

  test('reports that they are still being read after a few seconds, and does not fail', async () => {
    const folder = await folderOf('late', nodes);
    registry.events.ofArchivesAreLost = true;
    registry.api.reset();
    const looks = () => registry.api.received.filter(({ route }) => route.includes('/bulk/')).length;
    const running = run('publish', folder);
    await until(() => looks() > 3);
    expect(AbortSignal.timeout).toHaveBeenCalledWith(5000);
    patience.abort();
    const { code, stdout } = await running;
    registry.events.ofArchivesAreLost = false;

    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /\nhost nodes are being read; see: publish-node status --node late --version 1\.0\.0\n$/,
      ),
    ]);
    expect((await run('status', folder)).stdout).toMatch(/^host nodes {2}pending$/m);
  });
});
