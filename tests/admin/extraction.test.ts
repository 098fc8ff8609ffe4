import { beforeAll, describe, expect, test } from '@jest/globals';
import { writeHostNodes } from '../../lib/registry/extraction.ts';
import { changeHostNode } from '../../lib/registry/host-nodes.ts';
import { nodeVersionKey } from '../../lib/store/keys.ts';
import type { Upload } from '../../lib/bucket/object-keys.ts';
import { seed } from '../../tools/local/seed.ts';
import { admin, adminJson } from '../support/admin.ts';
import { addNode, addPublisher, addVersion, setFields, storedNode } from '../support/registry.ts';
import { finalize, publish, put, sha256 } from '../support/uploads.ts';
import { zip } from '@node-registry/testing/zip';

const code = (names: string[]) => `class N:
    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "run"
    CATEGORY = "ours"
    def run(self): eval("1")
NODE_CLASS_MAPPINGS = {n: N for n in ${JSON.stringify(names)}}
`;
const archive = (names: string[]) => zip([{ name: '__init__.py', data: code(names) }]);

const soon = () => ({ deadline: Date.now() + 10_000 });

beforeAll(() => seed());

async function publishPack(nodeId: string, names: string[]): Promise<Upload> {
  const upload = await publish(nodeId, '1.0.0');
  await put(upload, archive(names));
  await finalize(upload);
  return upload;
}

const listed = (nodeId: string) => adminJson('host-node', 'list', nodeId, '1.0.0');

describe('node-version extract', () => {
  test('reads the host nodes of a version again, keeps edits, removes the rest, and leaves a history', async () => {
    const upload = await publishPack('again', ['Kept', 'Edited']);
    const before = { node_id: 'again', version: '1.0.0', id: upload.versionId };
    const empty = {
      deprecated: null,
      experimental: null,
      conditional: null,
      left_open: null,
      description: null,
    };
    const outputs = { output_is_list: null, return_names: null, return_types: null };
    const others = { display_name: null, input_types: null, function: null, category: 'before' };
    const fields = { ...empty, ...outputs, ...others };
    const nodes = new Map(['Kept', 'Gone', 'Edited'].map((name) => [name, fields]));
    await writeHostNodes(soon(), before, { nodes, by: 0 });
    const caller = { userId: 'demo-owner', isAdmin: false };
    const changes = { category: 'theirs' };
    await changeHostNode(soon(), { ...upload, hostNodeName: 'Edited', changes, caller });
    const { stdout } = await admin('node-version', 'extract', 'again', '1.0.0');

    expect(stdout).toMatch(/Host nodes +success: 2 by extractor \d+ at/);
    expect(stdout).toMatch(/Found +Edited, Kept\nRemoved +Gone\nAdmin tags +calls-eval/);
    expect(await listed('again')).toEqual([
      expect.objectContaining({ host_node_name: 'Edited', category: 'theirs', function: 'run' }),
      expect.objectContaining({ host_node_name: 'Kept', category: 'ours', function: 'run' }),
    ]);
    expect((await storedNode('again'))?.latest_version).toMatchObject({
      host_node_extract_status: 'success',
      tags_admin: ['calls-eval'],
    });
    expect(await adminJson('history', 'node', 'again')).toEqual([
      expect.objectContaining({
        action: 'node-version extract',
        subject: 'again 1.0.0',
        detail: expect.stringMatching(/^success: 2 host nodes by extractor \d+, 1 removed$/),
      }),
    ]);
  });

  test('changes nothing but the time when it is repeated, and its list has titles', async () => {
    const upload = await publish('repeated', '1.0.0');
    const titles = 'NODE_DISPLAY_NAME_MAPPINGS = {"Plain": "A plain title"}\n';
    await put(upload, zip([{ name: '__init__.py', data: `${code(['Plain'])}${titles}` }]));
    await finalize(upload);
    await admin('node-version', 'extract', 'repeated', '1.0.0');
    const first = await listed('repeated');
    const { status } = await admin('node-version', 'extract', 'repeated', '1.0.0');
    const { stdout } = await admin('host-node', 'list', 'repeated', '1.0.0');

    expect([status, await listed('repeated')]).toEqual([0, first]);
    expect(stdout).toMatch(/^NAME +TITLE +POLICY .*\nPlain +A plain title +/);
  });

  test('rejects a version that is not published, that is missing, or whose archive is gone', async () => {
    await publish('unpublished', '1.0.0');
    await addPublisher('acme', {});
    await addNode('acme', 'gone');
    const archive = { archive_key: 'archives/gone.zip', sha256: sha256(Buffer.of()) };
    await addVersion('acme', 'gone', '1.0.0', archive);
    const answers = [];
    for (const line of ['unpublished 1.0.0', 'unpublished 2.0.0', 'gone 1.0.0']) {
      const { status, stderr } = await admin('node-version', 'extract', ...line.split(' '));
      answers.push([status, stderr]);
    }

    expect(answers).toEqual([
      [1, 'Version 1.0.0 of "unpublished" is not published yet.\n'],
      [1, 'The node "unpublished" has no version "2.0.0".\n'],
      [1, 'Version 1.0.0 of "gone" has no archive in the bucket.\n'],
    ]);
  });

  test('keeps the results of a newer extractor', async () => {
    await publishPack('ahead', ['A']);
    await setFields(nodeVersionKey('ahead', '1.0.0'), { extraction: { by: 99 } });

    expect((await admin('node-version', 'extract', 'ahead', '1.0.0')).stderr).toMatch(
      /^Version 1\.0\.0 of "ahead" was read by extractor 99, and this is \d+: update it\.\n$/,
    );
  });
});
