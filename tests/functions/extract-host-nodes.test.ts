import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/extract-host-nodes.ts';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { archiveKey, type Upload } from '../../lib/bucket/object-keys.ts';
import { extractor } from '../../lib/registry/extraction.ts';
import { hostNodeKey, nodeVersionKey } from '../../lib/store/keys.ts';
import { lanes } from '../../lib/work/lanes.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { seed } from '../../tools/local/seed.ts';
import { stopDate } from '@node-registry/testing/clock';
import { beforeNext } from '../support/intercept.ts';
import { lines, loggedLines } from '../support/logged-lines.ts';
import { setFields, storedItem, storedNode } from '../support/registry.ts';
import {
  workEvent,
  finalize,
  publish,
  putObject,
  sha256,
  storedVersion,
  uploaded,
} from '../support/uploads.ts';
import { zip } from '@node-registry/testing/zip';
import { hostNodeRecord, hostNodeView } from '../../lib/registry/records.ts';

const context = { awsRequestId: 'an-event', getRemainingTimeInMillis: () => 60_000 };

function pack(names: readonly string[], more = ''): Buffer {
  const classes = `class N:
    @classmethod
    def INPUT_TYPES(cls): return {"required": {"image": ("IMAGE",)}}
    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "run"
    CATEGORY = "ours"
`;
  return zip([
    { name: 'pack/__init__.py', data: `from .nodes import NODE_CLASS_MAPPINGS\n${more}` },
    {
      name: 'pack/nodes.py',
      data: `${classes}NODE_CLASS_MAPPINGS = {n: N for n in ${JSON.stringify(names)}}`,
      method: 8,
    },
    { name: 'pack/picture.png', data: 'not text' },
  ]);
}

async function publishPack(nodeId: string, archive: Buffer): Promise<Upload> {
  const upload = await uploaded(nodeId, archive);
  await finalize(upload);
  return upload;
}

const hostNode = (nodeId: string, name: string) => storedItem(hostNodeKey(nodeId, '1.0.0', name));

beforeAll(seed);

describe('a published archive', () => {
  test('gets its host nodes as entries, and its version and node say so', async () => {
    const archive = pack(['Load | it', 'Save']);
    const upload = await publishPack('extracted', archive);
    await handler(workEvent(upload), context);

    expect(await hostNode('extracted', 'Load | it')).toMatchObject({
      host_node_name: 'Load | it',
      category: 'ours',
      description: '',
      function: 'run',
      deprecated: false,
      experimental: false,
      input_types: '{"required":{"image":["IMAGE"]}}',
      return_types: '["IMAGE"]',
      return_names: '["IMAGE"]',
      output_is_list: [false],
    });
    expect(await hostNode('extracted', 'Save')).toBeDefined();
    const extraction = { by: extractor, nodes: 2, open_fields: 0 };
    const success = { host_node_extract_status: 'success' };
    expect(await storedVersion('extracted', '1.0.0')).toMatchObject({ ...success, extraction });
    expect(await storedNode('extracted')).toMatchObject({ latest_version: success });
    expect(lines('extraction').at(-1)).toEqual({
      level: 'info',
      event: 'extraction',
      function: 'extractHostNodes',
      function_request_id: 'an-event',
      ms: expect.any(Number),
      key: archiveKey(upload, sha256(archive)),
      node_id: 'extracted',
      version: '1.0.0',
      extractor,
      host_nodes: 2,
      open_fields: 0,
      steps: expect.any(Number),
      outcome: 'success',
    });
  });

  test('says what is conditional, and what is open until a person writes it', async () => {
    const open = 'import outside\nfrom .nodes import N\nclass O(N): CATEGORY = outside.C\n';
    const archive = pack(['Sure'], `${open}if outside.f(): NODE_CLASS_MAPPINGS["Open"] = O\n`);
    const upload = await publishPack('extracted-open', archive);
    await handler(workEvent(upload), context);
    const entry = hostNodeRecord(await hostNode('extracted-open', 'Open'));

    expect(entry && hostNodeView(entry, undefined)).toMatchObject({
      conditional: true,
      left_open: ['category: it comes from outside (outside.C)'],
    });
    expect(entry && hostNodeView({ ...entry, touched: ['category'] }, undefined)).not.toHaveProperty(
      'left_open',
    );
    expect(await hostNode('extracted-open', 'Sure')).not.toHaveProperty('left_open');
  });

  test('fails with the reason if it lists no nodes, and stays downloadable', async () => {
    const archive = zip([{ name: '__init__.py', data: 'x = 1' }]);
    const upload = await publishPack('extracted-none', archive);
    await handler(workEvent(upload), context);

    const reason = 'Its __init__.py has neither NODE_CLASS_MAPPINGS nor comfy_entrypoint.';
    expect(await storedVersion('extracted-none', '1.0.0')).toMatchObject({
      status: 'NodeVersionStatusActive',
      host_node_extract_status: 'failed',
      extraction: { nodes: 0 },
      host_node_extract_reason: reason,
      downloadUrl: expect.any(String),
    });
    expect(lines().at(-1)).toMatchObject({ outcome: 'failed', reason });
  });

  test('gets the risky calls of its code as admin tags, on the version and its node’s copy', async () => {
    const archive = pack(['Tagged'], 'import os\ndef f(): os.system(eval("1"))\n');
    const upload = await publishPack('extracted-tags', archive);
    await handler(workEvent(upload), context);

    const tags_admin = ['calls-eval', 'calls-os-system'];
    expect(await storedVersion('extracted-tags', '1.0.0')).toMatchObject({ tags_admin });
    expect(await storedNode('extracted-tags')).toMatchObject({ latest_version: { tags_admin } });
  });
});

describe('a try that does not end', () => {
  const { waitSeconds } = lanes.extract;
  const tries = waitSeconds.length + 1;

  // After any failure: tests/lib/work/work.test.ts.
  test('is repeated if the archive is gone', async () => {
    const upload = await publishPack('extracted-retried', pack(['Retried']));
    const Key = archiveKey(upload, sha256(pack(['Retried'])));
    await s3().send(new DeleteObjectCommand({ Bucket: bucketName(), Key }));
    expect(await handler(workEvent(upload), context)).toEqual({ batchItemFailures: [] });
    expect(lines('extraction')).toMatchObject([{ outcome: 'missing' }]);
    await putObject(Key, pack(['Retried']));
    await handler(workEvent(upload, 1), context);

    expect(await hostNode('extracted-retried', 'Retried')).toBeDefined();
    expect(await storedVersion('extracted-retried', '1.0.0')).not.toHaveProperty('pending_shard');
  });

  test.each<[string, number, object]>([
    ['unfinished', 2500, { tries: 0 }],
    [
      'interrupted',
      60_000,
      {
        tries: 1,
        host_node_extract_reason:
          'Reading it was tried once and ran out of time or memory. It is tried again; publish the same version again to have it read sooner.',
      },
    ],
  ])('%s, comes again by its lane', async (outcome, remainingMs, changes) => {
    const upload = await publishPack(`extracted-${outcome}`, pack(['Unended']));
    const end = (message: unknown) =>
      process.nextTick(() => (message as { worker: Worker }).worker.terminate());
    if (outcome === 'interrupted') subscribe('worker_threads', end);
    loggedLines.length = 0;
    await handler(workEvent(upload), { ...context, getRemainingTimeInMillis: () => remainingMs });
    unsubscribe('worker_threads', end);

    expect(lines('extraction')).toMatchObject([{ outcome }]);
    expect(await storedVersion(`extracted-${outcome}`, '1.0.0')).toMatchObject({
      host_node_extract_status: 'pending',
      pending_shard: expect.stringMatching(/^extract-/),
      ...changes,
    });
  });

  test.each(['NodeVersionStatusActive', 'NodeVersionStatusFlagged'])(
    'is the last one after five, until a version that is %s is published again',
    async (status) => {
      const nodeId = `extracted-patient-${status}`;
      const upload = await publishPack(nodeId, pack(['Patient']));
      await setFields(nodeVersionKey(nodeId, '1.0.0'), { tries });
      await handler(workEvent(upload, tries), context);
      const reason = `Reading it was tried ${tries} times and ran out of time or memory. It is not tried again by itself; publish the same version again to have it read sooner.`;
      const shown = { host_node_extract_status: 'failed', host_node_extract_reason: reason };
      expect(await storedVersion(nodeId, '1.0.0')).toMatchObject({
        ...shown,
        pending_shard: 'extract-given-up',
      });
      expect(await storedNode(nodeId)).toMatchObject({ latest_version: shown });
      expect(lines('work')).toMatchObject([{ lane: 'extract', outcome: 'given_up' }]);

      stopDate();
      const publishAgain = async (status: string) => {
        await setFields(nodeVersionKey(nodeId, '1.0.0'), { status });
        await expect(publish(nodeId, '1.0.0')).rejects.toMatchObject({ code: 'version_exists' });
        return storedVersion(nodeId, '1.0.0');
      };
      expect(await publishAgain('NodeVersionStatusBanned')).toMatchObject(shown);
      expect(await publishAgain(status)).toMatchObject({
        status,
        host_node_extract_status: 'pending',
        tries: 0,
        ...{
          pending_shard: expect.stringMatching(/^extract-[0-3]$/),
          pending_since: new Date().toISOString(),
        },
      });
      await handler(workEvent(upload), context);
      const read = await storedVersion(nodeId, '1.0.0');
      expect(read).toMatchObject({ host_node_extract_status: 'success' });
      expect(read).not.toHaveProperty('pending_shard');
    },
  );

  test('is not given up if its publisher asked for another reading meanwhile', async () => {
    const upload = await publishPack('extracted-asked', pack(['Asked']));
    await setFields(nodeVersionKey('extracted-asked', '1.0.0'), { tries });
    beforeNext(dynamodb, /^(?:Transact|UpdateItem)/, () =>
      setFields(nodeVersionKey('extracted-asked', '1.0.0'), { tries: 0 }),
    );
    await handler(workEvent(upload, tries), context);

    expect(await storedVersion('extracted-asked', '1.0.0')).toMatchObject({
      host_node_extract_status: 'pending',
    });
  });
});
