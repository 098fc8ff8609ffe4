import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/finalize-upload.ts';
import { s3 } from '../../lib/bucket/bucket.ts';
import type { Upload } from '../../lib/upload.ts';
import { toAttributes } from '../../lib/store/attribute-values.ts';
import { update } from '../../lib/store/expressions.ts';
import { activateVersion } from '../../lib/registry/finalizing.ts';
import { nodeVersionKey } from '../../lib/store/keys.ts';
import { dynamodb, tableName } from '../../lib/store/table.ts';
import { seed } from '../../tools/local/seed.ts';
import { admin, adminJson } from '../support/admin.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { storedNode } from '../support/registry.ts';
import { publish, put, sha256, storedVersion } from '../support/uploads.ts';
import { zip } from '../support/zip.ts';

const archive = zip([{ name: 'node.py', data: 'print("hello")\n' }]);
const hourMs = 60 * 60 * 1000;

interface Finding {
  node_id: string;
  finding: string;
}

beforeAll(async () => {
  await seed();
});

/** Makes a publish look older than it is. */
async function age({ nodeId, version }: Upload, milliseconds: number): Promise<void> {
  const since = { pending_since: new Date(Date.now() - milliseconds).toISOString() };
  const key = toAttributes(nodeVersionKey(nodeId, version));
  const expression = update(since, ['pk', 'exists']);
  await dynamodb.send(new UpdateItemCommand({ TableName: tableName, Key: key, ...expression }));
}

async function sweep(): Promise<Record<string, string>> {
  const findings: Finding[] = await adminJson('uploads', 'sweep');
  return Object.fromEntries(findings.map(({ node_id, finding }) => [node_id, finding]));
}

function runSchedule(): Promise<void> {
  const event = {
    version: '0',
    id: 'sample',
    source: 'aws.events',
    account: '123456789012',
    time: new Date().toISOString(),
    region: 'us-east-1',
    resources: [],
    'detail-type': 'Scheduled Event',
    detail: {},
  } as const;
  return handler({ ...event, resources: [] }, { getRemainingTimeInMillis: () => 60_000 });
}

describe('uploads sweep', () => {
  test('publishes what lost events left, refuses what is bad, and lists what never came', async () => {
    await put(await publish('lost-event', '1.0.0'), archive);
    await put(await publish('bad-archive', '1.0.0'), Buffer.from('no zip'));
    await age(await publish('never-came', '1.0.0'), hourMs);
    await publish('just-published', '1.0.0');

    expect(await sweep()).toEqual({
      'lost-event': 'published',
      'bad-archive': 'refused',
      'never-came': 'abandoned',
      'just-published': 'waiting',
    });
    expect(await storedVersion('lost-event', '1.0.0')).toMatchObject({ sha256: sha256(archive) });
  });

  test('finishes what a finaliser left half done: an active version that is not the latest yet', async () => {
    const upload = await publish('half-done', '1.0.0');
    await activateVersion(upload, { downloadUrl: 'https://example.com/a.zip', sizeBytes: 1, sha256: 'x' });
    expect(await storedNode('half-done')).not.toHaveProperty('latest_version');

    expect(await sweep()).toMatchObject({ 'half-done': 'settled' });
    expect(await storedNode('half-done')).toMatchObject({ latest_version: { version: '1.0.0' } });
    expect(await sweep()).not.toHaveProperty('half-done');
  });

  test('says in a table what a person wants to know', async () => {
    await age(await publish('shown', '1.0.0'), hourMs);
    const { status, stdout } = await admin('uploads', 'sweep');

    expect(status).toBe(0);
    expect(stdout).toMatch(/^NODE +VERSION +FOUND +SINCE +REASON$/m);
    expect(stdout).toMatch(/^shown +1\.0\.0 +abandoned +\S+ +Waiting for the archive/m);
  });

  test('leaves a deployed stage to its finaliser, and says how to have it sweep', async () => {
    const { BUCKET_NAME } = process.env;
    delete process.env.BUCKET_NAME;
    const { status, stderr } = await admin('uploads', 'sweep');
    process.env.BUCKET_NAME = BUCKET_NAME;

    expect([status, stderr]).toEqual([1, expect.stringContaining('aws lambda invoke')]);
  });
});

describe('the scheduled sweep', () => {
  test('leaves the youngest uploads to their events, and takes up those of the last hours', async () => {
    const [young, older] = [await publish('young', '1.0.0'), await publish('older', '1.0.0')];
    await put(young, archive);
    await put(older, archive);
    await age(older, hourMs);
    await runSchedule();

    expect(await storedVersion('young', '1.0.0')).toMatchObject({ status: 'NodeVersionStatusPending' });
    expect(await storedVersion('older', '1.0.0')).toMatchObject({ status: 'NodeVersionStatusActive' });
  });

  test('goes on after a version that fails, and then fails as a whole', async () => {
    const uploads = [await publish('fails-first', '1.0.0'), await publish('comes-second', '1.0.0')];
    for (const upload of uploads) {
      await put(upload, archive);
      await age(upload, 2 * hourMs - uploads.indexOf(upload) * hourMs);
    }
    loggedLines.length = 0;
    s3.middlewareStack.add(
      (next) => (args) => {
        if (JSON.stringify(args.input).includes('fails-first')) throw new Error('S3 is down.');
        return next(args);
      },
      { step: 'initialize', name: 'fault' },
    );
    await expect(runSchedule()).rejects.toThrow(/^1 of \d+ versions could not be swept\.$/);
    s3.middlewareStack.remove('fault');

    expect(await storedVersion('comes-second', '1.0.0')).toMatchObject({ status: 'NodeVersionStatusActive' });
    expect(loggedLines.join()).toContain('"node_id":"fails-first","version":"1.0.0","finding":"failed"');
  });
});
