import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hashPersonalAccessToken } from '../../../lib/auth/personal-access-tokens.ts';
import { s3 } from '../../../lib/bucket/bucket.ts';
import type { Upload } from '../../../lib/upload.ts';
import { toAttributes } from '../../../lib/store/attribute-values.ts';
import { nodeVersionKey } from '../../../lib/store/keys.ts';
import { findListedVersions } from '../../../lib/registry/pending-versions.ts';
import { dynamodb, tableName } from '../../../lib/store/table.ts';
import { sweepUploads } from '../../../lib/uploads/sweep-uploads.ts';
import { intercept } from '../../support/intercept.ts';
import { addNode, addPublisher, addToken, addVersion, storedNode } from '../../support/registry.ts';
import { put } from '../../support/uploads.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const day = (date: string) => Date.parse(`${date}T00:00:00.000Z`);
const inTime = () => Date.now() + 10_000;
const late = Object.assign(new Error('late'), { name: 'TimeoutError' });

afterEach(() => {
  jest.restoreAllMocks();
});

let token: Promise<string>;

beforeAll(async () => {
  await addPublisher('acme', {});
  token = addToken('acme');
});

/** A version on the pending list since then. */
async function addListed(nodeId: string, since: string, fields: object = {}): Promise<void> {
  const listed = { pending_shard: 'a', pending_since: since, upload_id: `upload of ${nodeId}` };
  const token_hash = hashPersonalAccessToken(await token);
  await addNode('acme', nodeId);
  await addVersion('acme', nodeId, '1.0.0', {
    status: 'NodeVersionStatusPending',
    host_node_extract_status: 'pending',
    token_hash,
    ...listed,
    ...fields,
  });
}

function uploadOf(nodeId: string): Upload {
  return { nodeId, version: '1.0.0', versionId: `${nodeId}-1.0.0`, uploadId: `upload of ${nodeId}` };
}

/** Changes the input or the answer of one command to the store. */
function change(
  command: string,
  changes: { asked?: object; answered?: object; meanwhile?: () => Promise<unknown> },
): void {
  intercept(dynamodb, async (call) => {
    if (call.command !== command) return call.send();
    await changes.meanwhile?.();
    Object.assign(call.input, changes.asked);
    return { ...(await call.send()), ...changes.answered };
  });
}

describe('findListedVersions', () => {
  const [from, to] = ['2020-01-01', '2020-01-31'];
  const find = () => findListedVersions(from, to, inTime());

  beforeAll(async () => {
    await addListed('third', '2020-01-30', { pending_shard: '0' });
    await addListed('first', '2020-01-02', {
      status_reason: 'No zip file.',
      status_reason_code: 'archive_refused',
    });
    await addListed('second', '2020-01-03', { status: 'NodeVersionStatusActive' });
    await addListed('too-early', '2019-12-31');
    await addListed('too-late', '2020-02-01');
  });

  test('finds versions newest first, page by page, with only the fields that a sweep needs', async () => {
    change('QueryCommand', { asked: { Limit: 1 } });

    expect(await find()).toEqual([
      expect.objectContaining({ nodeId: 'third', awaits: uploadOf('third') }),
      expect.objectContaining({ nodeId: 'second', reason: '', awaits: undefined }),
      {
        nodeId: 'first',
        version: '1.0.0',
        versionId: 'first-1.0.0',
        reason: 'No zip file.',
        reasonCode: 'archive_refused',
        since: '2020-01-02',
        awaits: uploadOf('first'),
      },
    ]);
  });

  test('reads versions without their large fields', async () => {
    const asked: object[] = [];
    intercept(dynamodb, async ({ command, input, send }) => {
      if (command === 'BatchGetItemCommand') asked.push(input);
      return send();
    });
    await find();

    expect(JSON.stringify(asked)).toContain('ProjectionExpression');
    expect(JSON.stringify(asked)).not.toContain('changelog');
  });

  test('finds a version once, and none that is completed or gone but still in the index', async () => {
    const Items = ['first', 'done', 'gone'].map((id) => toAttributes(nodeVersionKey(id, '1.0.0')));
    await addVersion('acme', 'done', '1.0.0');
    change('QueryCommand', { answered: { Items } });

    expect((await find()).map(({ nodeId }) => nodeId)).toEqual(['first']);
  });

  test('finds nothing when the index is empty', async () => {
    change('QueryCommand', { answered: { Items: undefined } });

    expect(await find()).toEqual([]);
  });

  test('fails with unavailable when the index does not answer', async () => {
    change('QueryCommand', { meanwhile: () => Promise.reject(late) });

    await expect(find()).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('fails with unavailable when the store does not return a version in time', async () => {
    const Keys = [toAttributes(nodeVersionKey('first', '1.0.0'))];
    change('BatchGetItemCommand', { answered: { UnprocessedKeys: { [tableName]: { Keys } } } });

    await expect(findListedVersions(from, to, Date.now() - 1)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('sweepUploads', () => {
  const since = day('2021-01-01');
  const sweep = (deadline: number) =>
    sweepUploads({ from: since - hourMs, to: since + hourMs, deadline }).then((swept) =>
      swept.map(({ nodeId, finding }) => [nodeId, finding]),
    );

  beforeAll(async () => {
    await addListed('never-came', new Date(since).toISOString());
  });

  test.each([
    [30 * minuteMs, 'waiting'],
    [30 * minuteMs + 1, 'abandoned'],
  ])('reports after %d ms that an upload that did not arrive is %s', async (ms, finding) => {
    jest.spyOn(Date, 'now').mockReturnValue(since + ms);

    expect(await sweep(since + hourMs)).toEqual([['never-came', finding]]);
  });

  test('completes active versions, finalizes uploads that arrived, and goes on after a failure', async () => {
    const at = day('2022-01-01');
    const since = new Date(at).toISOString();
    await addListed('half-done', since, { status: 'NodeVersionStatusActive' });
    await addListed('bad-archive', since);
    await addListed('failing', since);
    await put(uploadOf('bad-archive'), Buffer.from('no zip'));
    const failure = new Error('S3 is down.');
    intercept(s3, async ({ input, send }) => {
      if (JSON.stringify(input).includes('failing')) throw failure;
      return send();
    });
    const swept = await sweepUploads({ from: at, to: at, deadline: inTime() });

    const findings = swept.map(({ nodeId, finding, error }) => [nodeId, { finding, error }]);
    expect(Object.fromEntries(findings)).toEqual({
      'half-done': { finding: 'completed' },
      'bad-archive': { finding: 'refused' },
      failing: { finding: 'failed', error: failure },
    });
    expect((await storedNode('half-done'))?.latest_version).toMatchObject({ version: '1.0.0' });
  });

  test('visits nothing after its deadline', async () => {
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now);

    expect(await sweep(now)).toEqual([['never-came', 'unvisited']]);
  });
});
