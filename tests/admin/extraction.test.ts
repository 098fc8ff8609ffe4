import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler as extractHostNodes } from '../../functions/extract-host-nodes.ts';
import { extractor, writeHostNodes } from '../../lib/registry/extraction.ts';
import { refreshHostNodes } from '../../lib/index/node-files.ts';
import { changeHostNode } from '../../lib/registry/host-nodes.ts';
import { nodeVersionKey } from '../../lib/store/keys.ts';
import type { Upload } from '../../lib/bucket/object-keys.ts';
import { seed } from '../../tools/local/seed.ts';
import { admin, adminJson } from '../support/admin.ts';
import { readIndexFile } from '../support/bucket-objects.ts';
import { runQueue } from '../support/queue.ts';
import { setFields, storedNode, soon } from '../support/registry.ts';
import { finalize, publish, put } from '../support/uploads.ts';
import { hostNodesPath } from '@node-registry/registry-rules/index-paths';
import { handOver } from '../support/work.ts';
import { zip } from '@node-registry/testing/zip';

const code = (names: string[]) => `class N:
    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "run"
    CATEGORY = "ours"
    def run(self): eval("1")
NODE_CLASS_MAPPINGS = {n: N for n in ${JSON.stringify(names)}}
`;
const archive = (names: string[]) => zip([{ name: '__init__.py', data: code(names) }]);

beforeAll(() => seed());

/** What the lane does within a minute. */
async function work(): Promise<void> {
  await handOver();
  await runQueue(extractHostNodes, 'extract');
}

async function publishPack(nodeId: string, names: string[]): Promise<Upload> {
  const upload = await publish(nodeId, '1.0.0');
  await put(upload, archive(names));
  await finalize(upload);
  await work();
  return upload;
}

describe('node-version extract', () => {
  test('has the host nodes of a version read again, keeps edits, shows no others, and leaves a history', async () => {
    const upload = await publishPack('again', ['Kept', 'Edited']);
    const before = { node_id: 'again', version: '1.0.0', id: upload.versionId };
    const flags = { deprecated: null, experimental: null, conditional: null, left_open: null };
    const outputs = { output_is_list: null, return_names: null, return_types: null };
    const others = { display_name: null, description: null, input_types: null, function: 'before' };
    const fields = { ...flags, ...outputs, ...others, category: 'before' };
    const nodes = new Map(['Kept', 'Gone', 'Gone but edited', 'Edited'].map((name) => [name, fields]));
    await writeHostNodes(soon(), before, { nodes, by: 1 });
    await setFields(nodeVersionKey('again', '1.0.0'), { extraction: { by: 1, tags: ['calls-eval'] } });
    const caller = { userId: 'demo-owner', isAdmin: false };
    const changes = { category: 'theirs' };
    for (const hostNodeName of ['Edited', 'Gone but edited'])
      await changeHostNode(soon(), { ...upload, hostNodeName, changes, caller });
    const { stdout } = await admin('node-version', 'extract', 'again', '1.0.0');
    await work();

    expect(stdout).toBe('Version 1.0.0 of "again" is read again within a minute.\n');
    await refreshHostNodes(soon(), 'again', '1.0.0');
    const { content } = await readIndexFile(hostNodesPath('again', '1.0.0'));
    expect(content.host_nodes).toEqual([
      expect.objectContaining({ host_node_name: 'Edited', category: 'theirs', function: 'run' }),
      { host_node_name: 'Gone but edited', category: 'theirs' },
      expect.objectContaining({ host_node_name: 'Kept', category: 'ours', function: 'run' }),
    ]);
    expect((await admin('node-version', 'show', 'again', '1.0.0')).stdout).toMatch(/^Extraction +.*nodes 2/m);
    expect((await storedNode('again'))?.latest_version).toMatchObject({
      host_node_extract_status: 'success',
      tags_admin: ['calls-eval'],
    });
    const entry = { action: 'node-version extract', subject: 'again 1.0.0' };
    expect(await adminJson('history', 'node', 'again')).toContainEqual(expect.objectContaining(entry));
    const edit = (hostNodeName: string) =>
      changeHostNode(soon(), { ...upload, hostNodeName, changes, caller }).catch(({ code }) => code);
    expect([await edit('Gone'), await edit('Kept')]).toEqual(['host_node_not_found', expect.any(Object)]);
  });

  test('has a version read again whose extraction was given up', async () => {
    await publishPack('given-up', ['A']);
    const failed = { by: extractor, nodes: 0, open_fields: 0 };
    await setFields(nodeVersionKey('given-up', '1.0.0'), {
      extraction: failed,
      host_node_extract_status: 'failed',
      pending_shard: 'extract-given-up',
    });
    await admin('node-version', 'extract', 'given-up', '1.0.0');
    await work();

    const { host_node_extract_status } = await adminJson('node-version', 'show', 'given-up', '1.0.0');
    expect(host_node_extract_status).toBe('success');
  });

  test('rejects a version that is not published, that is missing, or that this extractor or a newer one has read', async () => {
    await publish('unpublished', '1.0.0');
    await publishPack('ahead', ['A']);
    await setFields(nodeVersionKey('ahead', '1.0.0'), { extraction: { by: 99 } });
    const answers = [];
    for (const line of ['unpublished 1.0.0', 'unpublished 2.0.0', 'ahead 1.0.0']) {
      const { status, stderr } = await admin('node-version', 'extract', ...line.split(' '));
      answers.push([status, stderr]);
    }

    expect(answers).toEqual([
      [1, 'Version 1.0.0 of "unpublished" is not published.\n'],
      [1, 'The node "unpublished" has no version "2.0.0".\n'],
      [1, expect.stringMatching(/"ahead" is not read again: extractor 99 has read it, .* is \d+\.\n$/)],
    ]);
  });
});
