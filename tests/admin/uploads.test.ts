import { beforeAll, describe, expect, test } from '@jest/globals';
import type { EventBridgeEvent } from 'aws-lambda';
import { handler } from '../../functions/finalize-upload.ts';
import { s3 } from '../../lib/bucket/bucket.ts';
import type { Upload } from '../../lib/bucket/object-keys.ts';
import { activate } from '../../lib/registry/finalizing.ts';
import { nodeVersionKey } from '../../lib/store/keys.ts';
import { seed } from '../../tools/local/seed.ts';
import { admin, adminJson } from '../support/admin.ts';
import { setVariables } from '../support/variables.ts';
import { stopDate } from '@node-registry/testing/clock';
import { intercept } from '../support/intercept.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { setFields } from '../support/registry.ts';
import { publish, put, sha256, storedVersion } from '../support/uploads.ts';
import { zip } from '@node-registry/testing/zip';
import '../support/in-order.ts';

const archive = zip([{ name: 'node.py', data: 'print("hello")\n' }]);
const copied = { key: 'a.zip', sizeBytes: 1, sha256: 'x' };
const soon = () => ({ deadline: Date.now() + 5000 });
const minuteMs = 60 * 1000;
const hourMs = 60 * minuteMs;

interface Finding {
  node_id: string;
  finding: string;
}

beforeAll(() => seed());

/** Makes a publish look older than it is. */
async function age({ nodeId, version }: Upload, milliseconds: number): Promise<void> {
  const since = { pending_since: new Date(Date.now() - milliseconds).toISOString() };
  await setFields(nodeVersionKey(nodeId, version), since);
}

async function sweep(): Promise<Record<string, string>> {
  const findings: Finding[] = await adminJson('uploads', 'sweep');
  return Object.fromEntries(findings.map(({ node_id, finding }) => [node_id, finding]));
}

function runSchedule(): Promise<void> {
  const event = { source: 'aws.events' } as EventBridgeEvent<'Scheduled Event', unknown>;
  return handler(event, { awsRequestId: 'sweep', getRemainingTimeInMillis: () => 60_000 });
}

describe('uploads sweep', () => {
  test('publishes uploads whose event was lost, rejects bad archives, and lists uploads that never came', async () => {
    await put(await publish('lost-event', '1.0.0'), archive);
    await put(await publish('bad-archive', '1.0.0'), Buffer.from('no zip'));
    await age(await publish('never-came', '1.0.0'), 30 * 24 * hourMs);
    await publish('just-published', '1.0.0');

    expect(await sweep()).toEqual({
      'lost-event': 'published',
      'bad-archive': 'rejected',
      'never-came': 'abandoned',
      'just-published': 'waiting',
    });
    expect(await storedVersion('lost-event', '1.0.0')).toMatchObject({ sha256: sha256(archive) });
  });

  test('prints its findings, continues after one fails, says why in its JSON too, and exits with 1', async () => {
    await age(await publish('absent', '1.0.0'), hourMs);
    const { stdout: text } = await admin('uploads', 'sweep');
    await put(await publish('not-read', '1.0.0'), archive);
    intercept(s3(), async ({ input, send }) => {
      if (JSON.stringify(input).includes('not-read')) throw new Error('S3 is down.');
      return send();
    });
    const { status, stdout, stderr } = await admin('uploads', 'sweep', '--json');
    const shown: Finding[] = JSON.parse(stdout);

    expect(text).toMatch(/^NODE +VERSION +FOUND +SINCE +REASON$/m);
    expect(text).toMatch(/^absent +1\.0\.0 +abandoned +\S+ +Waiting for the archive/m);
    const reason = expect.stringContaining('Waiting for the archive');
    for (const found of [
      { node_id: 'not-read', finding: 'error', error: 'S3 is down.' },
      { node_id: 'absent', finding: 'abandoned', reason },
    ])
      expect(shown).toContainEqual(expect.objectContaining(found));
    expect(stderr).toContain(
      `1 of ${shown.length} could not be finished: see the findings, and run it again.\n`,
    );
    expect(status).toBe(1);
  });

  test('does nothing on a deployed stage, and says how to make its finalizer sweep', async () => {
    setVariables({ BUCKET_NAME: undefined });
    const { status, stderr } = await admin('uploads', 'sweep');

    const line = `aws lambda invoke --region us-east-1 --function-name ${process.env.TABLE_NAME}-finalizeUpload `;
    expect([status, stderr]).toEqual([1, expect.stringContaining(line)]);
  });
});

test('the scheduled sweep handles the uploads of the last six hours except the last minute, and logs what it finished', async () => {
  stopDate();
  const ages = { young: minuteMs - 1, newest: minuteMs, oldest: 6 * hourMs, old: 6 * hourMs + 1 };
  for (const [nodeId, milliseconds] of Object.entries(ages)) {
    const upload = await publish(nodeId, '1.0.0');
    await put(upload, archive);
    await age(upload, milliseconds);
  }
  const left = await publish('left', '1.0.0');
  await activate(soon(), left, 'a finalizer', copied);
  await age(left, hourMs);
  loggedLines.length = 0;
  await runSchedule();

  const lines = loggedLines.map((line) => JSON.parse(line));
  const swept = lines.filter(({ event }) => event === 'swept');
  expect(swept.map(({ node_id, version, finding }) => `${node_id} ${version} ${finding}`).sort()).toEqual([
    'left 1.0.0 completed',
    'newest 1.0.0 published',
    'oldest 1.0.0 published',
  ]);
  const counts = { sweep_findings: 3, sweep_unvisited: 0 };
  expect(lines.at(-1)).toMatchObject({ event: 'sweep', sweep: 'uploads', ...counts });
});
