import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { demo } from '../../tools/local/demo.ts';
import { admin, adminJson } from '../support/admin.ts';
import { publishNode, startRegistry, writeFiles } from '../support/publishing.ts';
import { bearer } from '../support/tokens.ts';

jest.setTimeout(60_000);

let registry: Awaited<ReturnType<typeof startRegistry>>;

beforeAll(async () => {
  registry = await startRegistry();
});

afterAll(() => registry.stop());

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

test('--dry-run shows the host nodes that the registry then reads out of the archive, with all their fields', async () => {
  const folder = await folderOf('foreseen', nodes);
  const text = await run(folder, '--dry-run');
  const { host_nodes: foreseen, ...plan } = JSON.parse((await run(folder, '--dry-run', '--json')).stdout);
  await run(folder);
  await admin('node-version', 'extract', 'foreseen', '1.0.0');
  const status = await run('status', folder);

  expect(text.stdout).toMatch(/^ {2}Load it {2}\(ours: run returns \["IMAGE"\]\)$/m);
  expect(text.stdout).toMatch(/^ {2}Save it {2}\(\?: run returns .*\n {4}left open: category: /m);
  expect(text.stdout).toMatch(/\n2 in all\.\nNothing was sent\.\n$/);
  expect(plan.host_node_extract_status).toBe('success');
  const withoutNotes = foreseen.map(({ left_open: _, ...fields }: { left_open: string[] }) => fields);
  expect(await adminJson('host-node', 'list', 'foreseen', '1.0.0')).toEqual(withoutNotes);
  expect(status.stdout).toMatch(/^host nodes {2}success$/m);
});

test('--dry-run and status say why the host nodes cannot be read', async () => {
  const folder = await folderOf('hidden', 'import elsewhere\nNODE_CLASS_MAPPINGS = elsewhere.nodes');
  const why = 'Its NODE_CLASS_MAPPINGS come from elsewhere.nodes.';
  const plan = await run(folder, '--dry-run');
  await run(folder);
  const before = await run('status', folder);
  await admin('node-version', 'extract', 'hidden', '1.0.0');

  expect([plan.code, plan.stdout]).toEqual([
    0,
    expect.stringContaining(`They could not be read, or not all of them: ${why}\n`),
  ]);
  expect(before.stdout).toMatch(/^host nodes {2}pending$/m);
  expect((await run('status', folder)).stdout).toContain(`host nodes  failed: ${why}\n`);
});
