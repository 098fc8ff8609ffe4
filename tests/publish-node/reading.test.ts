import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { downloadUrl } from '../../lib/bucket/object-keys.ts';
import { publisherKey } from '../../lib/store/keys.ts';
import { folder } from '@node-registry/testing/folders';
import { projectOf, publishNode, reportOf } from '@node-registry/testing/publish-node';
import { follow, own } from '../support/index-nodes.ts';
import { startRegistry } from '../support/publishing.ts';
import { addPublisher, addToken } from '../support/registry.ts';
import { serve } from '../support/serve.ts';
import { writeFiles } from '@node-registry/testing/shell';
import { until } from '@node-registry/testing/until';
import { sha256 } from '../support/uploads.ts';

const registry = await startRegistry();
const env: Record<string, string> = { NODE_REGISTRY_URL: registry.api.url };

const source = `class Blend:
    @classmethod
    def INPUT_TYPES(cls): return {"required": {"image": ("IMAGE",)}, "optional": {"mode": (["a", "b"],), "file": ([],)}}
    RETURN_TYPES = ("IMAGE", "MASK")
    RETURN_NAMES = ("blended", "MASK")
    FUNCTION = "run"
    CATEGORY = "ours"
class Open:
    RETURN_TYPES = unknown()
    FUNCTION = "run"
NODE_CLASS_MAPPINGS = {"Blend": Blend, "Open": Open}
NODE_DISPLAY_NAME_MAPPINGS = {"Blend": "Blend two images"}
`;

beforeAll(async () => {
  const pack = await mkdtemp(join(registry.directory, 'pack-'));
  const project = projectOf('blender').replace('[tool', 'description = "Blends\u202E images"\n[tool');
  await writeFiles(pack, { 'pyproject.toml': project, '__init__.py': source, 'docs/help.md': '# Help' });
  const { code, stderr } = await publishNode(['publish', pack], { env: registry.access });
  if (code !== 0) throw new Error(stderr);
  env.NODE_REGISTRY_DOWNLOADS_URL = downloadUrl('').replace(/\/$/, '');
  // The host nodes are read after the version is active, and a late change leaves the catalog to the queue.
  await until(async () => {
    await follow(publisherKey('demo'), ...own('blender'));
    const [shown, found] = [await report('show', 'blender'), await report('search', 'blends')];
    return shown.host_nodes?.length > 0 && found.nodes?.length > 0;
  });
});

const command = (...args: string[]) => publishNode(args, { env, cwd: folder });
const report = (...args: string[]) => reportOf(args, { env, cwd: folder });

describe('publish-node', () => {
  test('search finds a node by its words, and versions lists its versions', async () => {
    const { nodes, code } = await report('search', 'blends');

    expect([code, nodes[0]?.id]).toEqual([0, 'blender']);
    const { stdout } = await command('search', 'blends', 'images');
    expect(stdout).toMatch(/^blender +1\.0\.0 +- +demo +Blends. images$/m);
    expect((await command('search', 'blends', '--page', '2')).stdout).not.toContain('blender');
    expect((await command('search', 'nothing')).stdout).toContain('No node has all of these words.');
    expect((await command('versions', 'blender')).stdout).toMatch(/^1\.0\.0 +\d{4}-\d\d-\d\d +\d+ +-$/m);
  });

  test('publish names who holds an ID that is taken, in its own spelling', async () => {
    await addPublisher('rival', { 'demo-owner': 'owner' });
    const token = await addToken('rival');
    const named = `--publisher rival --node BLENDER --version 1.0.0 --token ${token}`.split(' ');
    await writeFiles(folder, { 'node.py': '' });
    const publish = (where: object) =>
      publishNode(['publish', folder, ...named], { env: { ...registry.access, ...env, ...where } });
    const { code, stderr } = await publish({});

    expect([code, stderr]).toEqual([3, expect.stringContaining('"blender" is a node of "demo".')]);
    // Ctrl-C, while a host that doesn't answer is asked for the holder.
    let asked = 0;
    const silent = await serve(() => {
      asked += 1;
      process.emit('SIGINT');
    });
    const stopped = await publish({ NODE_REGISTRY_DOWNLOADS_URL: silent.url });
    expect([stopped.code, asked]).toEqual([130, 1]);
    expect((await command('show', 'BLENDER@v1.0')).stdout).toContain('blender 1.0.0\n');
  });

  test('shows the host nodes of a version, and fails for what is not there', async () => {
    const { stdout } = await command('show', 'blender@1.0.0');
    const { host_nodes, ...rest } = await report('show', 'blender');

    expect(stdout).toContain('    takes image IMAGE, mode? one of 2, file? one of a list\n');
    // No text reverses the line.
    expect(stdout).toMatch(/^description +Blends. images$/m);
    expect(rest).toMatchObject({ code: 0, status: 'found', node: 'blender', version: '1.0.0' });
    const open = host_nodes.map(({ left_open }: { left_open: string[] }) => left_open.length > 0);
    expect(open).toEqual([false, true]);
    for (const asked of ['show blender@9.0.0', 'show unknown', 'versions unknown'])
      expect(await report(...asked.split(' '))).toMatchObject({ code: 3, error: 'not_found' });
  });

  test('download writes the verified archive, and never over another file', async () => {
    const { node_version, ...shown } = await report('show', 'blender');
    const { output, ...written } = await report('download', 'blender');
    const again = await report('download', 'blender');
    const { downloadUrl: download_url, sha256: digest, size_bytes: archive_bytes } = node_version;
    const said = { download_url, sha256: digest, archive_bytes };
    const same = { code: 0, publisher: 'demo', node: 'blender', version: '1.0.0' };

    expect(shown).toMatchObject({ ...same, ...said, status: 'found' });
    expect(written).toMatchObject({ ...same, ...said, status: 'downloaded' });
    expect(output).toBe('blender-1.0.0.zip');
    const bytes = await readFile(join(folder, output));
    expect([sha256(bytes), bytes.length]).toEqual([digest, archive_bytes]);
    expect([again.code, again.message]).toEqual([2, expect.stringContaining(`${output} exists. Name a`)]);
  });

  test('download and show warn of a version that is deprecated, and of a node that is withdrawn', async () => {
    const server = await serve((request, response) => {
      if (request.url?.endsWith('.zip')) return response.end('x');
      if (request.url?.includes('host'))
        return response.end('{"node_id":"old","version":"1","host_nodes":[]}');
      const version = {
        version: '1.0.0',
        deprecated: true,
        changelog: 'Use 2.',
        downloadUrl: `${server.url}/a.zip`,
        sha256: sha256(Buffer.from('x')),
        size_bytes: 1,
      };
      const withdrawn = { status: 'NodeStatusDeleted', status_detail: 'Gone.' };
      const node = { id: 'old', ...withdrawn, latest_version: version, versions: [version] };
      return response.end(JSON.stringify(node));
    });
    const args = ['download', 'old', '--output', join(folder, 'old.zip'), '--downloads-url', server.url];
    const { code, stderr } = await publishNode(args, { env });
    const { stdout } = await publishNode(['show', 'old', '--downloads-url', server.url], { env });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/withdrawn\nreason +Gone/)]);
    expect(stderr).toContain('old is withdrawn: Gone.\nold 1.0.0 is deprecated: Use 2.\n');
  });

  test('learns where the files are from the registry if a version is named, and asks otherwise', async () => {
    const { NODE_REGISTRY_URL } = env;
    const asked = (...args: string[]) =>
      publishNode(args, { env: { NODE_REGISTRY_URL: String(NODE_REGISTRY_URL) }, cwd: folder });

    for (const version of ['1.0.0', 'v1.0', '1']) {
      expect((await asked('show', `blender@${version}`)).stdout).toContain('Blend two images');
    }
    const { code, stderr } = await asked('search', 'blend');
    expect([code, stderr]).toEqual([2, expect.stringContaining('NODE_REGISTRY_DOWNLOADS_URL')]);
  });

  test.each([
    ['versions blender --downloads-url', '--downloads-url, or NODE_REGISTRY_DOWNLOADS_URL'],
    ['search blend --downloads-url', '--downloads-url, or NODE_REGISTRY_DOWNLOADS_URL'],
    ['show blender@1.0.0 --base-url', '--base-url, or NODE_REGISTRY_URL'],
  ])('names the option for the address that cannot be reached: %s', async (args, options) => {
    const given = [...args.split(' '), 'http://localhost:1'];
    const { code, stderr } = await publishNode(given, { env: {} });

    expect([code, stderr]).toEqual([5, expect.stringContaining(` or name another: ${options}.\n`)]);
  });
});

describe('files that are not of a registry', () => {
  const node = { id: 'x', latest_version: { version: '1.0.0' }, versions: [{ version: '1.0.0' }] };
  const index = { 'config.json': { version: 1, catalog_pieces: 1 } };
  const hostNodes = { node_id: 'x', version: '1.0.0', host_nodes: [] };

  /** Serves these files as a registry's, and runs a command that reads them. */
  async function over(files: Record<string, unknown>, ...args: string[]) {
    const server = await serve(({ url = '' }, response) => {
      const content = files[url.replace('/index/v1/', '')];
      response.writeHead(content === undefined ? 404 : 200).end(JSON.stringify(content));
    });
    const given = { ...env, NODE_REGISTRY_DOWNLOADS_URL: server.url };
    return publishNode(args, { env: given });
  }

  const read = (value: unknown) => ({ 'nodes/x/1.0.0/host-nodes.json': value });
  const indexed = (value: object) => ({ 'nodes/x.json': value });
  const pieces = (catalog_pieces: unknown, entry = {}) => ({
    'config.json': { version: 1, catalog_pieces },
    'catalog/1/0.json': { nodes: [{ id: 'x', ...entry }] },
  });
  const latest = { version: '1.0.0', dependencies: 'numpy' };

  test.each<[string, Record<string, unknown>, string]>([
    ['host nodes that are a list', read([]), 'show'],
    ['host nodes without the list', read({ ok: true }), 'show'],
    ['host nodes that are texts', read({ ...hostNodes, host_nodes: ['a', null] }), 'show'],
    ['types that are a list', read({ ...hostNodes, host_nodes: [{ return_types: ['IMAGE'] }] }), 'show'],
    ['a node without versions', indexed({ id: 'x' }), 'versions'],
    ['a node without versions to download', indexed({ id: 'x' }), 'download'],
    ['dependencies that are a text', indexed({ ...node, latest_version: latest }), 'show'],
    ['a version created at a number', indexed({ versions: [{ createdAt: 1 }] }), 'versions'],
    ['a catalog of another kind', pieces('many'), 'search'],
    ['a catalog without end', pieces(1e9), 'search'],
    ['a node without a publisher in the catalog', pieces(1), 'search'],
    ['a name that is a number in the catalog', pieces(1, { name: 1, publisher: { id: 'x' } }), 'search'],
  ])('fail with a message if they are wrong: %s', async (_, files, name) => {
    const { code, stderr } = await over({ ...index, 'nodes/x.json': node, ...files }, name, 'x');

    expect(stderr).toMatch(/ (?:is not valid|does not (?:belong|serve))[^\n]+\.\n$/);
    expect(code).toBe(5);
  });

  test('accept more kinds of values from a newer registry', async () => {
    const later = { ...node, status: 'NodeStatusOfTheFuture', more: { a: 1 } };
    const { code, stdout } = await over({ ...index, 'nodes/x.json': later }, 'show', 'x');

    expect([code, stdout]).toEqual([0, expect.stringContaining('x 1.0.0')]);
  });

  test.each(['file:///srv/registry', 'ftp://example.com', 'nowhere'])(
    'send nothing to %s',
    async (downloads) => {
      const named = await command('show', 'blender', '--downloads-url', downloads);
      const server = await serve((_, response) => {
        const node_version = { version: '1.0.0', downloadUrl: `${downloads}/archives/x.zip` };
        const identifier = { node_id: 'x', version: '1.0.0' };
        const body = { node_versions: [{ identifier, node_version }] };
        response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
      });
      const answered = await publishNode(['show', 'x@1.0.0'], { env: { NODE_REGISTRY_URL: server.url } });

      expect([named.code, named.stderr]).toEqual([2, expect.stringMatching(/http or https/)]);
      expect([answered.code, answered.stderr]).toEqual([2, expect.stringMatching(/http or https/)]);
    },
  );
});
