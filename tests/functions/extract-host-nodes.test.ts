import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/extract-host-nodes.ts';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { archiveKey, type Upload } from '../../lib/bucket/object-keys.ts';
import { extractor } from '../../lib/uploads/extract-archive.ts';
import { hostNodeKey, nodeVersionKey } from '../../lib/store/keys.ts';
import { seed } from '../../tools/local/seed.ts';
import { stopDate } from '@node-registry/testing/clock';
import { beforeNext, intercept } from '../support/intercept.ts';
import { lines, loggedLines } from '../support/logged-lines.ts';
import { setFields, storedItem, storedNode } from '../support/registry.ts';
import {
  eventForKey,
  extractionEvent,
  finalize,
  publish,
  sha256,
  storedVersion,
  uploaded,
} from '../support/uploads.ts';
import { zip } from '@node-registry/testing/zip';
import { hostNodeRecord, hostNodeView } from '../../lib/registry/records.ts';

const context = { awsRequestId: 'an-event', getRemainingTimeInMillis: () => 60_000 };
const again = { batchItemFailures: [{ itemIdentifier: expect.any(String) }] };
const done = { batchItemFailures: [] };

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

async function hostNode(nodeId: string, name: string) {
  const { pk, sk } = hostNodeKey(nodeId, '1.0.0', name);
  return storedItem(pk, sk);
}

beforeAll(seed);

describe('a published archive', () => {
  test('gets its host nodes as entries, and its version and node say so', async () => {
    const archive = pack(['Load | it', 'Save']);
    const upload = await publishPack('extracted', archive);
    await handler(extractionEvent(upload, archive), context);

    expect(await hostNode('extracted', 'Load | it')).toMatchObject({
      ...{ host_node_name: 'Load | it', category: 'ours', description: '', function: 'run' },
      ...{ deprecated: false, experimental: false, input_types: '{"required":{"image":["IMAGE"]}}' },
      ...{ return_types: '["IMAGE"]', return_names: '["IMAGE"]', output_is_list: [false] },
    });
    expect(await hostNode('extracted', 'Save')).toBeDefined();
    const extraction = { by: extractor, nodes: 2, open_fields: 0 };
    const success = { host_node_extract_status: 'success' };
    expect(await storedVersion('extracted', '1.0.0')).toMatchObject({ ...success, extraction });
    expect(await storedNode('extracted')).toMatchObject({ latest_version: success });
    expect(lines().at(-1)).toEqual({
      ...{ level: 'info', event: 'extraction', function: 'extractHostNodes' },
      ...{ function_request_id: 'an-event', message: expect.any(String) },
      ...{ key: archiveKey(upload, sha256(archive)), node_id: 'extracted', version: '1.0.0', extractor },
      ...{ host_nodes: 2, open_fields: 0, steps: expect.any(Number), outcome: 'success' },
      ...{ ms: expect.any(Number), lag_ms: expect.any(Number) },
    });
  });

  test('says what is conditional, and what is open until a person writes it', async () => {
    const open = 'import outside\nfrom .nodes import N\nclass O(N): CATEGORY = outside.C\n';
    const archive = pack(['Sure'], `${open}if outside.f(): NODE_CLASS_MAPPINGS["Open"] = O\n`);
    const upload = await publishPack('extracted-open', archive);
    await handler(extractionEvent(upload, archive), context);
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

  test('yields its host nodes once, however often its event comes', async () => {
    const archive = pack(['Once']);
    const upload = await publishPack('extracted-once', archive);
    await Promise.all([1, 2].map(() => handler(extractionEvent(upload, archive), context)));
    const first = await storedVersion('extracted-once', '1.0.0');
    await handler(extractionEvent(upload, archive), context);

    expect(await storedVersion('extracted-once', '1.0.0')).toEqual(first);
    expect(await hostNode('extracted-once', 'Once')).toMatchObject({ function: 'run' });
  });

  test('fails with the reason if it lists no nodes, and stays downloadable', async () => {
    const archive = zip([{ name: '__init__.py', data: 'x = 1' }]);
    const upload = await publishPack('extracted-none', archive);
    await handler(extractionEvent(upload, archive), context);

    const reason = 'Its __init__.py has neither NODE_CLASS_MAPPINGS nor comfy_entrypoint.';
    expect(await storedVersion('extracted-none', '1.0.0')).toMatchObject({
      ...{ status: 'NodeVersionStatusActive', host_node_extract_status: 'failed', extraction: { nodes: 0 } },
      ...{ host_node_extract_reason: reason, downloadUrl: expect.any(String) },
    });
    expect(lines().at(-1)).toMatchObject({ outcome: 'failed', reason });
  });

  test('gets the risky calls of its code as admin tags, on the version and its node’s copy', async () => {
    const archive = pack(['Tagged'], 'import os\ndef f(): os.system(eval("1"))\n');
    const upload = await publishPack('extracted-tags', archive);
    await handler(extractionEvent(upload, archive), context);

    const tags_admin = ['calls-eval', 'calls-os-system'];
    expect(await storedVersion('extracted-tags', '1.0.0')).toMatchObject({ tags_admin });
    expect(await storedNode('extracted-tags')).toMatchObject({ latest_version: { tags_admin } });
  });
});

describe('a published archive with very long texts', () => {
  const publishNodes = async (nodeId: string, python: string) => {
    const archive = zip([{ name: 'pack/__init__.py', data: python, method: 8 }]);
    await handler(extractionEvent(await publishPack(nodeId, archive), archive), context);
  };

  test('contains entries that the store accepts, without the texts that do not fit', async () => {
    const long = '"x" * 79_000';
    await publishNodes(
      'extracted-long',
      `class N:
    @classmethod
    def INPUT_TYPES(cls): return {"required": {"a": ("INT", {"tooltip": ${long}})}}
    FUNCTION = ${long}
    CATEGORY = ${long}
    DESCRIPTION = ${long}
    RETURN_TYPES = (${long},)
    RETURN_NAMES = (${long},)
    OUTPUT_IS_LIST = (False,)
NODE_CLASS_MAPPINGS = {"N": N}
`,
    );

    const { host_node_extract_status } = await storedVersion('extracted-long', '1.0.0');
    expect(host_node_extract_status).toBe('success');
    const entry = await hostNode('extracted-long', 'N');
    expect(entry).toMatchObject({ function: 'x'.repeat(79_000), output_is_list: [false] });
    for (const field of ['category', 'description', 'input_types', 'return_types', 'return_names'])
      expect(entry).not.toHaveProperty(field);
  });

  test('fails with the reason, and keeps the good entries, if a name is not valid Unicode', async () => {
    await publishNodes(
      'extracted-surrogate',
      `class N:
    FUNCTION = "run"
    DESCRIPTION = "bad \\udcff"
NODE_CLASS_MAPPINGS = {"good": N, "bad\\ud800": N}
`,
    );

    expect(await storedVersion('extracted-surrogate', '1.0.0')).toMatchObject({
      host_node_extract_status: 'failed',
      host_node_extract_reason: 'The name "bad\ufffd" is not valid Unicode.',
    });
    const entry = await hostNode('extracted-surrogate', 'good');
    expect(entry).toMatchObject({ function: 'run' });
    expect(entry).not.toHaveProperty('description');
  });
});

describe('an event that is about nothing', () => {
  test.each([
    ['a key of another shape', 'archives/x.zip'],
    ['a version that there is not', `archives/no-such/1.0.0/${'0'.repeat(8)}-${'a'.repeat(64)}.zip`],
  ])('changes nothing: %s', async (_title, key) => {
    expect(await handler(eventForKey(key), context)).toEqual(done);

    expect(lines()).toContainEqual(expect.objectContaining({ event: 'extraction', outcome: 'unknown' }));
  });

  test('changes nothing for other bytes than the version has', async () => {
    const archive = pack(['Right']);
    const upload = await publishPack('extracted-other', archive);
    await handler(extractionEvent(upload, pack(['Wrong'])), context);

    expect(await hostNode('extracted-other', 'Wrong')).toBeUndefined();
    const { host_node_extract_status } = await storedVersion('extracted-other', '1.0.0');
    expect(host_node_extract_status).toBe('pending');
  });
});

test('ends the message of an archive that is gone', async () => {
  const archive = pack(['Gone']);
  const upload = await publishPack('extracted-gone', archive);
  const Key = archiveKey(upload, sha256(archive));
  await s3().send(new DeleteObjectCommand({ Bucket: bucketName(), Key }));

  expect(await handler(extractionEvent(upload, archive), context)).toEqual(done);
  expect(lines()).toContainEqual(expect.objectContaining({ event: 'extraction', outcome: 'missing' }));
});

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html */
test('ends the message with which S3 tests the queue', async () => {
  const event = eventForKey('unused');
  const body = { Service: 'Amazon S3', Event: 's3:TestEvent', Bucket: 'archives', Time: 'now' };
  for (const record of event.Records) record.body = JSON.stringify(body);

  expect(await handler(event, context)).toEqual(done);
});

test('keeps a message that names nothing, for the dead-letter queue', async () => {
  const event = eventForKey('unused');
  for (const record of event.Records) record.body = '{}';

  expect(await handler(event, context)).toEqual(again);
});

test('a failure of S3 leaves the message to be received again', async () => {
  const archive = pack(['Retried']);
  const upload = await publishPack('extracted-retried', archive);
  beforeNext(s3(), /HeadObject/, async () => {
    throw new Error('S3 is away');
  });

  expect(await handler(extractionEvent(upload, archive), context)).toEqual(again);
  expect(await handler(extractionEvent(upload, archive, 2), context)).toEqual(done);
  expect(await hostNode('extracted-retried', 'Retried')).toBeDefined();
});

describe('a try that does not end', () => {
  /** What remains of an invocation that was killed while it read the archive. */
  async function killWhileReading(upload: Upload, archive: Buffer): Promise<void> {
    const killed = Promise.withResolvers<void>();
    intercept(s3(), async ({ command, send }) => {
      if (command !== 'HeadObjectCommand') return send();
      killed.resolve();
      return new Promise(() => {});
    });
    void handler(extractionEvent(upload, archive), context);
    await killed.promise;
  }

  test('leaves a mark before the archive is read, due again in an hour', async () => {
    const archive = pack(['Killed']);
    const upload = await publishPack('extracted-killed', archive);
    await killWhileReading(upload, archive);

    const { pending_since, ...version } = await storedVersion('extracted-killed', '1.0.0');
    expect(version).toMatchObject({ extraction_tries: 1, host_node_extract_status: 'pending' });
    expect(Date.parse(String(pending_since)) - Date.now()).toBeGreaterThan(59 * 60 * 1000);
  });

  test('appears to the owner while the next one runs, and disappears when that ends', async () => {
    const archive = pack(['Killed once']);
    const upload = await publishPack('extracted-named', archive);
    await setFields(nodeVersionKey('extracted-named', '1.0.0'), { extraction_tries: 1 });
    await killWhileReading(upload, archive);
    expect(await storedVersion('extracted-named', '1.0.0')).toMatchObject({
      host_node_extract_status: 'pending',
      host_node_extract_reason:
        'Reading it was tried once and ran out of time or memory. It is tried again; publish the same version again to have it read sooner.',
    });
  });

  test.each(['NodeVersionStatusActive', 'NodeVersionStatusFlagged'])(
    'ends after twelve, until a version that is %s is published again',
    async (status) => {
      const archive = pack(['Patient']);
      const nodeId = `extracted-patient-${status}`;
      const upload = await publishPack(nodeId, archive);
      await setFields(nodeVersionKey(nodeId, '1.0.0'), { extraction_tries: 12 });

      expect(await handler(extractionEvent(upload, archive), context)).toEqual(done);
      const given = await storedVersion(nodeId, '1.0.0');
      const { host_node_extract_reason: reason, extraction: _, extraction_tries: __, ...kept } = given;
      expect(kept).toMatchObject({ host_node_extract_status: 'failed' });
      expect(kept).not.toHaveProperty('pending_shard');
      expect(reason).toBe(
        'Reading it was tried 12 times and ran out of time or memory. It is not tried again by itself; publish the same version again to have it read sooner.',
      );

      stopDate();
      const publishAgain = async (status: string) => {
        await setFields(nodeVersionKey(nodeId, '1.0.0'), { status });
        await expect(publish(nodeId, '1.0.0')).rejects.toMatchObject({ code: 'version_exists' });
        return storedVersion(nodeId, '1.0.0');
      };
      expect(await publishAgain('NodeVersionStatusBanned')).not.toHaveProperty('pending_shard');
      expect(await publishAgain(status)).toEqual({
        ...kept,
        status,
        host_node_extract_status: 'pending',
        pending_shard: expect.stringMatching(/^extract-[0-9a-f]$/),
        pending_since: new Date().toISOString(),
        revision: Number(kept.revision) + 3,
        write_id: expect.any(String),
      });
      await handler(extractionEvent(upload, archive), context);
      const read = await storedVersion(nodeId, '1.0.0');
      expect(read).toMatchObject({ host_node_extract_status: 'success' });
      expect(read).not.toHaveProperty('extraction_tries');
    },
  );

  test.each<[string, string, number]>([
    ['there is no time left to write', 'unfinished', 2500],
    ['its thread ends', 'interrupted', 60_000],
  ])('comes again, and after the fifth receive by the sweep: %s', async (_, outcome, remainingMs) => {
    const archive = pack(['Unended']);
    const upload = await publishPack(`extracted-${outcome}`, archive);
    const end = (message: unknown) =>
      process.nextTick(() => (message as { worker: Worker }).worker.terminate());
    if (outcome === 'interrupted') subscribe('worker_threads', end);
    const invocation = { ...context, getRemainingTimeInMillis: () => remainingMs };
    loggedLines.length = 0;
    const replies = [
      await handler(extractionEvent(upload, archive), invocation),
      await handler(extractionEvent(upload, archive, 5), invocation),
    ];
    unsubscribe('worker_threads', end);

    expect(replies).toEqual([again, done]);
    expect(lines()).toMatchObject([1, 2].map(() => ({ event: 'extraction', outcome })));
  });

  test('says nothing about a pack that was read: a publish changes nothing', async () => {
    const archive = zip([{ name: '__init__.py', data: 'x = 1' }]);
    const upload = await publishPack('extracted-judged', archive);
    await handler(extractionEvent(upload, archive), context);
    const before = await storedVersion('extracted-judged', '1.0.0');

    await expect(publish('extracted-judged', '1.0.0')).rejects.toMatchObject({ code: 'version_exists' });
    expect(await storedVersion('extracted-judged', '1.0.0')).toEqual(before);
  });
});
